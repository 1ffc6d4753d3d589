"""A file of settings: what it says is what the command line would say, and what it can't say is one sentence."""

from pathlib import Path

import pytest

from bridge import limits
from bridge.cli import main
from bridge.errors import UsageError
from bridge.serve.settings_file import read_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_an_option_is_for_every_command_that_has_it_and_a_table_for_one(file: Path):
    file.write_text(
        'allow-origin = ["https://shop.example", "http://localhost:*"]\n'
        "headed = true\n"
        "debug-port = 0\n"
        "verbose = 2\n"
        'log = "calls.jsonl"\n'
        "[serve]\n"
        'mode = "ask"\n'
        'allow-origin = "https://one.example"\n'
        'allow-dir = ["../elsewhere", "/srv"]\n'
    )

    found = read_settings(file, main.commands)

    assert found["serve"] == {
        "allowed": ["https://one.example"],
        "headed": True,
        "debug_port": 0,
        "verbose": 2,
        "log_path": file.parent / "calls.jsonl",
        "mode": "ask",
        "dirs": [file.parent / "../elsewhere", Path("/srv")],
    }
    assert found["tools"]["allowed"] == ["https://shop.example", "http://localhost:*"]
    assert "mode" not in found["tools"]
    assert "allowed" not in found["doctor"]
    assert "log" not in found


@pytest.mark.feature("rules.settings")
def test_every_option_of_every_command_can_be_in_it(file: Path):
    for name, command in main.commands.items():
        for option in command.params:
            words = [word[2:] for word in option.opts if word.startswith("--")]
            for word in words:
                values = ("true", "1", '"x"')
                told = [value for value in values if _takes(file, f'["{name}"]\n{word} = {value}\n')]
                assert len(told) == 1, f"{name} --{word}: {told}"


def _takes(file: Path, text: str) -> bool:
    file.write_text(text)
    try:
        return read_settings(file, main.commands) != {}
    except UsageError:
        return False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\n", "there is no command 'server'; there are serve, "),
        ('allow_origin = "https://a.example"', "no command has an option --allow_origin"),
        ('[doctor]\nmode = "ask"', "`pagebridge doctor` has no option --mode"),
        ("help = true", "no command has an option --help"),
        ("headed = 1", "headed takes true or false"),
        ('debug-port = "9222"', "debug-port takes a number"),
        ("debug-port = true", "debug-port takes a number"),
        ("allow-origin = [1]", "allow-origin takes a list of texts"),
        ('[serve]\nmode = ["ask"]', "mode takes a text"),
        ("mode = ", "can't be read: Invalid value"),
        ("mode = 'ask'\nmode = 'act'", "can't be read: Cannot overwrite a value"),
        ("\udce9", "can't be read: 'utf-8' codec can't decode byte 0xe9"),
        ("#" * (limits.SETTINGS_BYTES + 1), "can't be read: it has more than 65,536 bytes"),
        ("mode = " + "[" * 30_000 + "]" * 30_000, "can't be read: they are nested too deeply"),
    ],
)
def test_what_no_option_can_be_is_one_sentence_with_the_files_name(file: Path, text: str, said: str):
    file.write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(UsageError) as caught:
        read_settings(file, main.commands)

    assert str(caught.value).startswith((f"{file}: ", f"The settings in {file} "))
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")


def test_one_that_fits_exactly_is_read(file: Path):
    text = "headed = true\n#"
    file.write_text(text + "x" * (limits.SETTINGS_BYTES - len(text)))

    assert read_settings(file, main.commands)["serve"] == {"headed": True}


@pytest.mark.threat("L3")
def test_what_others_may_have_put_there_is_not_read(file: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="There is no settings file"):
        read_settings(file, main.commands)

    file.write_text("headed = true")
    file.chmod(0o666)
    with pytest.raises(UsageError, match="other users may write it"):
        read_settings(file, main.commands)

    link = tmp_path / "link.toml"
    link.symlink_to(file)
    with pytest.raises(UsageError, match="it is a link"):
        read_settings(link, main.commands)
