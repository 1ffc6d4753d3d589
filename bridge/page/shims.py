"""The page shims as one script, read from the package `page_shims`: what is reviewed is what runs."""

from functools import cache
from importlib.resources import files
from json import dumps
from typing import Final

KIT_PARTS: Final = (
    "appendTo",
    "askForTools",
    "describeKind",
    "describeThrown",
    "encodeOddity",
    "encodeValue",
    "functionName",
    "installKit",
    "makeKit",
    "plainForm",
    "readGroup",
    "readTool",
    "runTool",
    "saveNatives",
)
"""Each is one file that holds one function of the same name."""


@cache
def _functions() -> str:
    folder = files("page_shims")
    return "\n".join(folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in KIT_PARTS)


def kit_script(secret: str) -> str:
    """The script that installs the kit in a document; its value is the kit.

    Args:
        secret: the event name under which the kit listens, unknown to the page.
    """
    return (
        f"(() => {{ 'use strict';\n{_functions()}\nreturn installKit({dumps(secret)});\n}})()\n"
        "//# sourceURL=bridge/kit.js"
    )
