"""`python -m fewvars` is the command line."""

from .cli import main

main()
