"""Characters with which a page may try to hide words, or to forge ours; and such that hide nothing."""

from typing import Final

HIDDEN: Final = [
    *(chr(code) for code in range(0x20) if chr(code) not in "\n\t"),
    *map(chr, range(0x7F, 0xA0)),
    *"<>",
    *"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u3164\ufeff\uffa0\ufff9\ufffa\ufffb",
    *map(chr, range(0x200B, 0x2010)),
    *map(chr, range(0x2028, 0x202F)),
    *map(chr, range(0x2060, 0x2070)),
    *map(chr, range(0xFE00, 0xFE0F)),
    *map(chr, range(0x1D173, 0x1D17B)),
    *map(chr, range(0xE0000, 0xE0080, 2)),
    *map(chr, range(0xE0100, 0xE01F0, 16)),
]
"""About 200: C0 and C1, markup, bidirectional controls, zero-width and invisible ones, tags, variation selectors."""

SHOWN: Final = [
    "",
    "plain\n\ttext",
    "".join(char for char in map(chr, range(0x20, 0x7F)) if char not in "<>"),
    "é " + "".join(char for char in map(chr, range(0x20, 0x7F)) if char not in "<>"),
    "é ß ш 漢 한 ب",
    "😀 ❤\ufe0f 1\ufe0f\u20e3 🏳\ufe0f",
    "\xa0\u2003\u3000",
    "e\u0301",
    "\\ \\n \\x1b &lt; &#60; \uff1cb\uff1e",
    "\ufffd\ufffc",
    "\U0010fffd",
]
