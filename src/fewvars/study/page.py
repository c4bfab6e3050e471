"""One HTML page with all tables and figures, each with the command that made it; it refers to no other file."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 76rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1.5rem; }
nav a { margin-right: 1.2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap; }
thead th { white-space: normal; vertical-align: bottom; border-bottom: 2px solid #333; }
tbody th, td:nth-child(2), thead th:first-child, thead th:nth-child(2) { text-align: left; }
tbody th { font-weight: 600; }
tr.new th, tr.new td { border-top: 1px solid #bbb; }
figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption code { white-space: nowrap; }
figcaption, .notes { font-size: 0.92rem; color: #444; max-width: 60rem; }
code { background: #f2f2f2; padding: 0.1em 0.35em; border-radius: 3px; }
"""


@final
@dataclass(frozen=True)
class Picture:
    """A figure as SVG, with what it shows."""

    name: str
    caption: str
    svg: bytes


@final
@dataclass(frozen=True)
class Section:
    """An experiment on the page.

    Attributes
    ----------
    name, title : str
    table : str
        HTML; empty if there are no rows.
    notes : sequence of str
    pictures : sequence of Picture
    command : str
        What makes this section.
    """

    name: str
    title: str
    table: str
    notes: Sequence[str]
    pictures: Sequence[Picture]
    command: str


def page(sections: Sequence[Section], *, head: Sequence[str]) -> str:
    """Return the page; `head` are paragraphs of text for its beginning."""
    links = "".join(f'<a href="#{html.escape(item.name)}">{html.escape(item.title)}</a>' for item in sections)
    words = "".join(f"<p>{html.escape(text)}</p>" for text in head)
    body = "".join(map(_section, sections))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper's study, repeated</title><style>{_STYLE}</style></head><body>"
        f"<h1>The paper's study, repeated</h1>{words}<nav>{links}</nav>{body}</body></html>\n"
    )


def _section(section: Section) -> str:
    made = "Made by" if section.table else "Nothing has been run yet. Run"
    command = f"<p>{made} <code>{html.escape(section.command)}</code></p>"
    table = f'<div class="wide">{section.table}</div>' if section.table else ""
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in section.notes)
    pictures = "".join(_picture(picture, section.command) for picture in section.pictures)
    return (
        f'<section id="{html.escape(section.name)}"><h2>{html.escape(section.title)}</h2>{command}{table}'
        f'<ul class="notes">{notes}</ul>{pictures}</section>'
    )


def _picture(picture: Picture, command: str) -> str:
    source = "data:image/svg+xml;base64," + base64.b64encode(picture.svg).decode()
    caption = html.escape(picture.caption)
    return (
        f'<figure><img src="{source}" alt="{caption}">'
        f"<figcaption>{caption} Made by <code>{html.escape(command)}</code></figcaption></figure>"
    )
