"""Phrases that several layers print."""

from collections.abc import Sequence


def first_few(texts: Sequence[str], most: int = 8, noun: str = "") -> str:
    """Return "a, b", or "a, b and 7 more" (with a noun, "7 more columns") if there are more than `most`."""
    rest = f" and {len(texts) - most} more {noun}".rstrip() if len(texts) > most else ""
    return ", ".join(texts[:most]) + rest
