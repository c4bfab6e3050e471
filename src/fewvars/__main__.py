"""`python -m fewvars` is the command line."""

from fewvars.cli import main

if __name__ == "__main__":
    main(prog_name="fewvars")
