"""Softmax retrieval from an associative memory, trained by gradient descent or by spectral optimisers.

Under construction: the world, its losses, gradient descent and the reduction of spectral optimisers.
"""
