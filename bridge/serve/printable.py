"""Text of a page on its way to a person's terminal."""

import re
from typing import Final

_OBEYED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Show the characters that a terminal would obey instead of sending them; lines and tabs stay.

    Those that turn the direction of writing are among them: they make a text look like another.
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)
