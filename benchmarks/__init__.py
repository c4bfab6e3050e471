"""Measurements outside the test suite; each module says how to run it."""
