"""Frames in answers, for tests of something else."""

import re

from bridge.calls.frame import unframe

FRAME = re.compile(r"(?<=:)\n(?=<)|<page_content_([0-9a-f]{32}) [^<>]*>[^<>]*</page_content_\1>")


def take_out(text: str) -> str:
    """The text with what the page said in it as the page said it; what stands outside of the frame stays."""
    return FRAME.sub(lambda found: unframe(found[0]) if found[0].startswith("<") else " ", text, count=2)
