"""Figures drawn from the tables of experiments of the same name: `python -m paper_figures [NAME...]`."""
