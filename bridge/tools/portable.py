"""Which regular expressions every reader of a schema can compile: a client's validator, and the APIs behind it.

One that can't be compiled costs an agent the whole list of tools. They use ECMAScript with its `u` flag, Python's
`re`, RE2 and Rust's `regex`, so this is what those have in common.
"""

import re
from typing import Final

from bridge.tools.keywords import Pattern

_CHARACTER: Final = r"\\(?:[nrtfv]|[\^$\\.*+?()\[\]{}|/]|x[0-9A-Fa-f]{2})"
_KIND: Final = r"\\[dDwWsS]"
_COMMON: Final = re.compile(
    rf"""(?:
        [^\\\[\](){{}}^$] | {_CHARACTER} | {_KIND} | (?: [\^$] | \\[bB] ) (?![*+?{{])
      | \[ (?!\^\]) \^? (?: [^\\\[\]&|~-] | ([&|~-]) (?!\1|{_KIND}) | {_CHARACTER} | \\- | {_KIND} (?!-[^\]]) )+ \]
      | \( (?: \?: | (?!\?) ) | \)
      | \{{ [0-9]{{1,3}} (?: , (?: [0-9]{{1,3}} )? )? \}}
    )*""",
    re.VERBOSE,
)
_LOOK_AROUND: Final = re.compile(r"\(\?<?[=!]")


def is_portable(pattern: str, *, look_around: bool) -> bool:
    """True where the pattern is common syntax; what that means is up to google-re2's compiler.

    Args:
        look_around: accept `(?=…)` and its kin too, which RE2 and Rust lack.
    """
    plain = _LOOK_AROUND.sub("(?:", pattern) if look_around else pattern
    return _COMMON.fullmatch(plain) is not None and Pattern(plain).regex is not None
