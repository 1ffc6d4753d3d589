"""Keys of a keyboard, by the names that pages know them by: those of an English one."""

from dataclasses import dataclass
from typing import Final

from bridge.errors import UsageError

MODIFIERS: Final = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
"""And the bits by which Chromium knows them."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key as it is pressed.

    Attributes:
        name: what `KeyboardEvent.key` says.
        code: what `KeyboardEvent.code` says.
        number: what `KeyboardEvent.keyCode` says.
        text: what it writes, "" for nothing.
    """

    name: str
    code: str
    number: int
    text: str = ""


_NAMED: Final = {
    key.name: key
    for key in (
        Key("Enter", "Enter", 13, "\r"),
        Key("Tab", "Tab", 9),
        Key("Backspace", "Backspace", 8),
        Key("Delete", "Delete", 46),
        Key("Escape", "Escape", 27),
        Key("Insert", "Insert", 45),
        Key("Home", "Home", 36),
        Key("End", "End", 35),
        Key("PageUp", "PageUp", 33),
        Key("PageDown", "PageDown", 34),
        Key("ArrowLeft", "ArrowLeft", 37),
        Key("ArrowUp", "ArrowUp", 38),
        Key("ArrowRight", "ArrowRight", 39),
        Key("ArrowDown", "ArrowDown", 40),
        Key("CapsLock", "CapsLock", 20),
        Key("ContextMenu", "ContextMenu", 93),
        Key("Alt", "AltLeft", 18),
        Key("Control", "ControlLeft", 17),
        Key("Meta", "MetaLeft", 91),
        Key("Shift", "ShiftLeft", 16),
        *(Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)),
    )
}
_ALIASES: Final = {"Space": " ", "Plus": "+", "Ctrl": "Control", "Esc": "Escape", "Return": "Enter", "Cmd": "Meta"}

_SYMBOLS: Final = (
    ("`~", "Backquote", 192),
    ("-_", "Minus", 189),
    ("=+", "Equal", 187),
    ("[{", "BracketLeft", 219),
    ("]}", "BracketRight", 221),
    ("\\|", "Backslash", 220),
    (";:", "Semicolon", 186),
    ("'\"", "Quote", 222),
    (",<", "Comma", 188),
    (".>", "Period", 190),
    ("/?", "Slash", 191),
    *((f"{digit}{symbol}", f"Digit{digit}", 48 + digit) for digit, symbol in enumerate(")!@#$%^&*(")),
)
_SHIFTED: Final = {pair[0]: pair[1] for pair, _, _ in _SYMBOLS}
_BY_CHAR: Final = {
    " ": Key(" ", "Space", 32, " "),
    **{char: Key(char, code, number, char) for pair, code, number in _SYMBOLS for char in pair},
}


def read_keys(text: str) -> tuple[tuple[str, ...], Key]:
    """What an agent writes for a key: its name or character, behind the modifiers that are held: `Control+Shift+A`.

    Raises:
        UsageError: there is no such key; says which there are.
    """
    *held, last = (
        text.split("+") if text != "+" and not text.endswith("++") else [*text[:-1].rstrip("+").split("+"), "+"]
    )
    modifiers = tuple(_ALIASES.get(name, name) for name in held if name)
    if any(name not in MODIFIERS for name in modifiers):
        raise UsageError(f"{text!r} is no key: before the last +, only {', '.join(MODIFIERS)} can stand.")
    name = _ALIASES.get(last, last)
    if len(name) == 1 and modifiers:
        name = _SHIFTED.get(name, name.upper()) if "Shift" in modifiers else name.lower()
    return modifiers, find_key(name)


def find_key(name: str) -> Key:
    """The key of that name or character.

    Raises:
        UsageError: there is none.
    """
    if name in _NAMED:
        return _NAMED[name]
    if len(name) == 1:
        if name in _BY_CHAR:
            return _BY_CHAR[name]
        if "a" <= name.lower() <= "z":
            return Key(name, f"Key{name.upper()}", ord(name.upper()), name)
        if name.isprintable():
            return Key(name, "", 0, name)
    named = ", ".join(one for one in _NAMED if not one.startswith("F"))
    raise UsageError(f"{name!r} is no key. Give one character, Space, F1 to F12, or one of {named}.")
