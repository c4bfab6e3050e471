"""The version of the package, for modules that write it to files."""

__version__ = "0.1.0.dev0"
