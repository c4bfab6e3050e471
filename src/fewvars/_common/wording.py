"""Phrases that several layers print."""

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """Return "1 row" or "3 rows"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_few(texts: Sequence[str], most: int = 8, noun: str = "") -> str:
    """Return "a, b", or "a, b and 7 more" (with a noun, "7 more columns") if there are more than `most`."""
    rest = f" and {len(texts) - most} more {noun}".rstrip() if len(texts) > most else ""
    return ", ".join(texts[:most]) + rest
