"""fewvars learns functions of few variables: which inputs matter, and what the function is."""

__version__ = "0.1.0.dev0"
