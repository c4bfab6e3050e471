"""The HTML document around a report: its style, its script, and a policy that allows nothing else."""

import base64
import hashlib
from importlib.resources import files

from fewvars.report._markup import Markup, escape


def page(title: str, body: Markup) -> str:
    """Return the document: its policy allows this style and this script, and nothing else from anywhere."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
