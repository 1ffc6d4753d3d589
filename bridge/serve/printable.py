"""Text of a page on its way to a person's terminal."""

import json
import sys

from bridge.calls.frame import reveal


def printable(text: str) -> str:
    """Show the characters that a terminal would obey, and those that nobody sees, instead of sending them; lines and
    tabs stay. One form for all who read: an agent gets them so, too.
    """
    return reveal(text, json=True)


def as_json(value: object) -> str:
    """For a person in lines, for a program in one."""
    if sys.stdout.isatty():
        return json.dumps(value, ensure_ascii=False, indent=2)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
