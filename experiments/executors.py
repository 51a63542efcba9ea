"""Who does the work: a sweep takes any `concurrent.futures.Executor`, and this is the list of those on offer."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class SerialExecutor(Executor):
    """An executor without workers: `submit` runs the call in this process and returns a finished future.

    Ctrl-C is not an answer of the call but a wish of the user, and leaves `submit` as the exception it is.
    """

    def submit(self, call: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Run `call(*args, **kwargs)` and return its result, or its exception, as a future."""
        future: Future[Result] = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  (whoever asks for the result gets it)
            future.set_exception(error)
        return future


EXECUTORS: Mapping[str, Callable[[], Executor]] = {"local": SerialExecutor}
"""Name on the command line -> executor; an adapter added here runs every sweep elsewhere."""
