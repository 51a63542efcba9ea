"""Experiments: a grid, a prediction and a simulation each; `python -m experiments run` fills `results/` with data."""
