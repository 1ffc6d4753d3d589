"""The form in which words of a page reach an agent, so that nothing in them can pass for words of ours.

Content stands between two delimiters, which are the only `<` and `>` that there are:

    <page_content_5f1c… origin="https://shop.example" type="text">
    whatever the page says
    </page_content_5f1c…>

Inside, each character that could end it, that no reader sees or that a terminal obeys is written `\\uXXXX`, with four
lower-case digits, and one beyond U+FFFF as two of these, as in JSON. In JSON that is JSON's own escape, and the value
stays what it is. In other text, a backslash that would begin such an escape by itself is written `\\u005c`, so that
decoding is exact there as well.
"""

import re
from typing import Final

_PART_CHARS: Final = 32 * 1024
_SHORT_CHARS: Final = 500
_CONTROLS: Final = tuple(map(chr, (*range(9), *range(0x0B, 0x20), 0x7F)))
_SUSPECT: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U00010000-\U0010ffff]"
)
"""Unicode's categories Cc (but newline and tab), Cf, Cs, Zl and Zp, and what it says to ignore by default: variation
selectors, fillers and tags among that. Of what is beyond U+FFFF, `_HIDDEN_BEYOND` knows more."""

_HIDDEN_BEYOND: Final = re.compile(
    "[\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_SHOWS_AS_EMOJI: Final = re.compile("[#*0-9\xa9\xae\u203c-\u2049\u2122-\u303d\u3297-\u3299\U0001f000-\U0001faff]\ufe0f")
"""Here U+FE0F says how the character before it looks, and hides nothing."""

_ESCAPE: Final = re.compile(r"\\u([0-9a-f]{4})")
_READS_AS_ESCAPE: Final = re.compile(r"\\(?=u[0-9a-f]{4})")
_FRAME: Final = re.compile(
    r'<page_content_([0-9a-f]{32,}) origin="[^"<>]*" type="(text|json)">\n([^<>]*)\n</page_content_\1>'
)


def escape(text: str, *, json: bool = False) -> str:
    """The text with what is hidden in it made visible, and without any `<` and `>`.

    Args:
        json: it is JSON, whole or cut, or a sentence in which the words of others are quoted already.
    """
    return without_brackets(reveal(text, json=json))


def reveal(text: str, *, json: bool = False) -> str:
    """As `escape`, but `<` and `>` stay."""
    if not json and "\\" in text:
        text = _READS_AS_ESCAPE.sub(r"\\u005c", text)
    # Most results are ASCII, and need no look at each of their characters.
    return text if text.isascii() and not _has_controls(text) else _SUSPECT.sub(_as_escape, text)


def without_brackets(text: str) -> str:
    """What `reveal` gave, without any `<` and `>`: both together are `escape`."""
    for char in "<>":
        if char in text:  # to look for one is faster than to count them
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _has_controls(text: str) -> bool:
    """Of ASCII. To look for each of them is the quickest, as long as the text is in the processor's cache: in parts. A
    short one is read in less time than they are gone through."""
    if len(text) <= _SHORT_CHARS and text.isprintable():
        return False
    parts = (text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS))
    return any(control in part for part in parts for control in _CONTROLS)


def _as_escape(found: re.Match[str]) -> str:
    char, code = found[0], ord(found[0])
    if code > 0xFFFF:
        is_hidden = _HIDDEN_BEYOND.match(char)
        return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}" if is_hidden else char
    if char == "\ufe0f" and _SHOWS_AS_EMOJI.match(found.string, found.start() - 1):
        return char
    return f"\\u{code:04x}"


def unescape(text: str) -> str:
    """The text that `escape` or `reveal` was given, unless that was JSON: `json.loads` reads the value as it is."""
    if "\\u" not in text:
        return text
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def frame(text: str, origin: str, nonce: str, *, json: bool = False) -> str:
    """Set a page's content apart from all else in an answer.

    Args:
        origin: whose content it is.
        nonce: at least 128 bits that no page could know, in hexadecimal digits; new for each answer.
        json: the text is JSON.
    """
    return enclose(escape(text, json=json), origin, nonce, json=json)


def enclose(escaped: str, origin: str, nonce: str, *, json: bool) -> str:
    """As `frame`, for what `escape` gave."""
    name = f"page_content_{nonce}"
    where = escape(origin).replace('"', r"\u0022")
    return f'<{name} origin="{where}" type="{"json" if json else "text"}">\n{escaped}\n</{name}>'


def unframe(text: str) -> str:
    """The content of the frame that an answer begins with or has in it: exactly what the page said, or JSON that is
    equal in value.

    Raises:
        ValueError: there is none.
    """
    found = _FRAME.search(text)
    if found is None:
        raise ValueError("there is no page content in it")
    return found[3] if found[2] == "json" else unescape(found[3])
