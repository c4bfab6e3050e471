"""HTML that is safe by construction: whatever is not markup is escaped when it is put into a tag."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from fewvars.displays.names import short

# Characters that HTML or XML cannot hold, or editors cannot show: control characters and lone surrogates.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""


def escape(text: Any) -> Markup:
    """Return text as HTML; markup stays as it is."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_FORBIDDEN.sub("\ufffd", str(text)), quote=True))


def tag(name: str, *content: Any, **attributes: Any) -> Markup:
    """Return an element; `class_` stands for class, `aria_label` for aria-label, None leaves an attribute out."""
    opening = name
    for key, value in attributes.items():
        if value is not None and value is not False:
            opening += f' {key.rstrip("_").replace("_", "-")}="{escape("" if value is True else value)}"'
    return Markup(f"<{opening}>{join(*content)}</{name}>")


def join(*content: Any) -> Markup:
    """Return the contents one after the other; None is nothing."""
    return Markup("".join(escape(part) for part in content if part is not None))


def name_of(text: str, limit: int = 48, class_: str | None = None) -> Markup:
    """Return a name, isolated from the direction of the text around it; long names are cut and shown whole on hover."""
    shown = short(text, limit)
    return tag("bdi", shown, class_=class_, title=text[:1000] if shown != text else None)


def column(text: Any, class_: str | None = None) -> Markup:
    """Return a cell of the head of a table."""
    return tag("th", text, scope="col", class_=class_)


def table(caption: str, head: Sequence[Markup | None], rows: Iterable[Markup], class_: str = "scroll") -> Markup:
    """Return a table in a box of its own, given the cells of its head and its rows."""
    parts = tag("caption", caption), tag("thead", tag("tr", *head)), tag("tbody", *rows)
    return tag("div", tag("table", *parts), class_=class_)


def data_block(values: Any, name: str) -> Markup:
    """Return a script element that holds JSON, which is not executed and which no text in it can close."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Markup(text), type="application/json", id=name)
