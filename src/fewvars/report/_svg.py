"""A matplotlib figure as inline SVG: no styles, scripts or links; colours become classes that follow the page.

The page's security policy forbids style attributes, so they are rewritten as presentation attributes. Text
stays text. Only elements and attributes listed here pass.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

from fewvars.displays import figure as colours
from fewvars.report._markup import Markup, escape

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = {"g", "defs", "path", "clipPath", "rect", "use", "text", "tspan"}
_ATTRIBUTES = {"d", "x", "y", "width", "height", "transform", "clip-path"}
_PROPERTIES = {
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "opacity", "text-anchor", "font-size", "font-weight",
    "font-style",
}  # fmt: skip
_PAGE_COLOURS = {
    "#000000": "ink",
    "#b0b0b0": "grid",
    colours.GREY: "grey",
    colours.PALE: "pale",
    colours.BLUE: "blue",
    colours.VERMILLION: "vermillion",
    colours.GREEN: "green",
    colours.PURPLE: "purple",
    colours.ORANGE: "orange",
    colours.SKY: "sky",
}
_RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fewvars",
    "text.usetex": False,
    "font.family": ["sans-serif"],
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.unicode_minus": True,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in matplotlib's default style, whatever style the user has chosen for other plots."""
    from matplotlib import rc_context, rcParamsDefault

    style = {key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))}
    with rc_context({**style, **_RC}), warnings.catch_warnings():
        # Text stays text: the reader's browser may have fonts that this machine lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        warnings.filterwarnings("ignore", "Matplotlib currently does not support")
        yield


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, in inches, in which a point is a unit of the SVG."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=72, layout="constrained")


def inline_svg(figure: Any, name: str, description: str, overlay: Callable[[], Markup] | None = None) -> Markup:
    """Return a figure as an SVG element.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Prefix of the ids, different for each figure of a page.
    description : str
        Text for readers who cannot see the figure.
    overlay : callable, optional
        Returns elements to add on top; called when the layout is final.
    """
    buffer = io.BytesIO()
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")  # savefig would lay out twice more, which takes longer than drawing
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    body = "".join(_element(child, name) for child in root)
    opening = f'<svg class="plot" viewBox="{root.get("viewBox")}" role="img" aria-label="{escape(description)}">'
    return Markup(opening + body + ("" if overlay is None else overlay()) + "</svg>")


def _element(node: ElementTree.Element, prefix: str) -> str:
    kind = node.tag.removeprefix(_SVG)
    if kind not in _ELEMENTS:
        return ""
    attributes = _attributes(node, kind, prefix)
    text = escape(node.text.strip()) if kind in ("text", "tspan") and node.text else ""
    content = text + "".join(_element(child, prefix) for child in node)
    if kind in ("g", "defs") and not content:
        return ""
    if kind == "g" and not attributes:
        return content
    return f"<{kind}{attributes}>{content}</{kind}>" if content else f"<{kind}{attributes}/>"


def _attributes(node: ElementTree.Element, kind: str, prefix: str) -> str:
    found: dict[str, str] = {}
    for key, value in node.attrib.items():
        if key == "id" and kind in ("path", "clipPath"):
            found["id"] = f"{prefix}-{value}"
        elif key == _LINK and value.startswith("#"):
            found["href"] = f"#{prefix}-{value[1:]}"
        elif key == "clip-path":
            found[key] = value.replace("url(#", f"url(#{prefix}-")
        elif key in _ATTRIBUTES and not value.startswith("rotate(-0 "):
            found[key] = _shortened(value)
    classes = []
    for key, value in _properties(node.get("style", "")):
        if key in ("fill", "stroke") and value in _PAGE_COLOURS:
            classes.append(f"{key}-{_PAGE_COLOURS[value]}")
        elif key in _PROPERTIES:
            found[key] = value
    if classes:
        found["class"] = " ".join(classes)
    return "".join(f' {key}="{escape(value)}"' for key, value in found.items())


def _properties(style: str) -> list[tuple[str, str]]:
    pairs = [declaration.partition(":") for declaration in style.split(";")]
    return [(key.strip(), value.strip().removesuffix("px")) for key, _, value in pairs if value.strip()]


def _shortened(numbers: str) -> str:
    """Round the numbers of a path or position to hundredths of a point, which is below what anyone can see."""
    rounded = re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), numbers)
    return " ".join(rounded.split())
