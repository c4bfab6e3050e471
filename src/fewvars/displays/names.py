"""Names are untrusted text: make them unique, short, one line each, and free of mathtext."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from fewvars.estimators.inputs import column_names

_TURNS = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # direction overrides
_LIMIT = 22


def names_of(model: Any, names: Sequence[str] | None = None) -> list[str]:
    """Return one name for each input of a fitted model, all different.

    Given names come first, then those of the columns the model was fitted on, then x0, x1, ...
    """
    return distinct_names(column_names(model) if names is None else names, int(model.n_features_in_))


def distinct_names(names: Sequence[str] | None, d: int) -> list[str]:
    """Return d names as text; names that occur twice get the number of their column."""
    if names is None:
        return [f"x{j}" for j in range(d)]
    texts = [plain(name) for name in names]
    if len(texts) != d:
        raise ValueError(f"feature_names has {len(texts)} names: give one for each of the {d} inputs.")
    while len(set(texts)) < d:
        counts = Counter(texts)
        texts = [f"{text} [{j}]" if counts[text] > 1 else text for j, text in enumerate(texts)]
    return texts


def group_names(names: Sequence[str], labels: np.ndarray) -> list[str]:
    """Return a name for each group of inputs: that of its first input, and the number of further inputs."""
    found = []
    for group in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == group)
        more = f" +{members.size - 1}" if members.size > 1 else ""
        found.append(names[members[0]] + more)
    return found


def plain(name: Any) -> str:
    """Return text on one line without control characters, lone surrogates or changes of direction."""
    text = "".join(_safe(character) for character in str(name) if character not in _TURNS)
    return " ".join(text.split()) or "(no name)"


def _safe(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cs" or ord(character) & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return " " if kind in ("Cc", "Zl", "Zp") else character


def short(name: Any, limit: int = _LIMIT) -> str:
    """Return plain text at most `limit` columns wide; an ellipsis replaces the middle of longer text.

    Both ends stay, because long names of many variables often differ in one of them only.
    """
    text = plain(name)
    if _width(text) <= limit:
        return text
    head, tail = text, text
    while _width(head) > limit // 2:
        head = head[:-1]
    while _width(tail) > limit - limit // 2 - 1:
        tail = tail[1:]
    return head + "…" + tail


def label(name: Any, limit: int = _LIMIT) -> str:
    """Return short text that matplotlib shows literally: a dollar sign does not start a formula."""
    return short(name, limit).replace("$", r"\$")


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
