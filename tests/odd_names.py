"""Names that a page may give its tools, so that they are taken for others, or for none."""

import json
from typing import Final

from bridge.calls.built_ins import BY_NAME
from tests.sites import Site

ODD_NAMES: Final = [
    "navigate",
    "evaluate",
    "tools/call",
    "tools/list",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    " ",
    "list_pages ",
    " list_pages",
    "LIST_PAGES",
    "l\u0456st_pages",  # its second letter is Cyrillic
    "list_pages\u200b",
    "list\u00adpages",
    "\uff4c\uff49\uff53\uff54_pages",  # of fullwidth letters
    "list-pages",
    "mcp__pagebridge__list_pages",
    "page_list_pages",
    "page_page_list_pages",
    "pagebridge",
    "a.b",
    "a/../b",
    "😀",
    "#0.1",
    "#0.2",
    "p1",
    "null",
    "undefined",
    "0",
    "-1",
    "a\nb",
    "\x1b[31m",
    '"',
    "\\",
    "x" * 128,
]
TOO_LONG: Final = "x" * 10_000
NAMES: Final = [*BY_NAME, *ODD_NAMES]
"""All that a page may offer: first the bridge's own."""


def serve_names(site: Site) -> None:
    """What the page `names.html` calls its tools."""
    site.bodies["/names.js"] = f"const names = {json.dumps([*NAMES, TOO_LONG])}"
