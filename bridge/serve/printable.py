"""Text of a page on its way to a person's terminal."""

from bridge.calls.frame import reveal


def printable(text: str) -> str:
    """Show the characters that a terminal would obey, and those that nobody sees, instead of sending them; lines and
    tabs stay. One form for all who read: an agent gets them so, too.
    """
    return reveal(text, json=True)
