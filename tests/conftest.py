"""Settings shared by all tests."""

from hypothesis import settings

# The same examples in every run, and no verdict by the clock of a busy machine.
settings.register_profile("fewvars", derandomize=True, max_examples=60, deadline=None, database=None)
settings.load_profile("fewvars")
