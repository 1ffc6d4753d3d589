"""Keys as an agent writes them."""

import pytest

from bridge.errors import UsageError
from bridge.page.keys import Key, read_keys


@pytest.mark.parametrize(
    ("text", "modifiers", "key"),
    [
        ("a", (), Key("a", "KeyA", 65, "a")),
        ("A", (), Key("A", "KeyA", 65, "A")),
        ("Shift+a", ("Shift",), Key("A", "KeyA", 65, "A")),
        ("Shift+/", ("Shift",), Key("?", "Slash", 191, "?")),
        ("Control+Shift+1", ("Control", "Shift"), Key("!", "Digit1", 49, "!")),
        ("Shift+Plus", ("Shift",), Key("+", "Equal", 187, "+")),
        ("Control+A", ("Control",), Key("a", "KeyA", 65, "a")),
        ("Ctrl+Shift+k", ("Control", "Shift"), Key("K", "KeyK", 75, "K")),
        ("Enter", (), Key("Enter", "Enter", 13, "\r")),
        ("Esc", (), Key("Escape", "Escape", 27)),
        ("Space", (), Key(" ", "Space", 32, " ")),
        (" ", (), Key(" ", "Space", 32, " ")),
        ("+", (), Key("+", "Equal", 187, "+")),
        ("Control++", ("Control",), Key("+", "Equal", 187, "+")),
        ("Control+Plus", ("Control",), Key("+", "Equal", 187, "+")),
        ("%", (), Key("%", "Digit5", 53, "%")),
        ("5", (), Key("5", "Digit5", 53, "5")),
        ("F12", (), Key("F12", "F12", 123)),
        ("Alt+ArrowLeft", ("Alt",), Key("ArrowLeft", "ArrowLeft", 37)),
        ("Shift", (), Key("Shift", "ShiftLeft", 16)),
        ("ß", (), Key("ß", "", 0, "ß")),
    ],
)
def test_a_key_is_read(text: str, modifiers: tuple[str, ...], key: Key):
    assert read_keys(text) == (modifiers, key)


@pytest.mark.parametrize("text", ["", "Entr", "Hyper+a", "a+b", "ab", "F13", "\x00", "Control+", "\u200b"])
def test_what_is_no_key_is_said(text: str):
    with pytest.raises(UsageError, match="is no key"):
        read_keys(text)
