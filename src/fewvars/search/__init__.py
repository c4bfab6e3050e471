"""Searches for few variables or few directions, decided on held-out rows."""
