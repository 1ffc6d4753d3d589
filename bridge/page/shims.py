"""The page shims as one script, read from the package `page_shims`: what is reviewed is what runs."""

from functools import cache
from importlib.resources import files
from typing import Final

KIT_PARTS: Final = (
    "addRegistered",
    "appendTo",
    "className",
    "describeAnswer",
    "describeKind",
    "describeRound",
    "describeThrown",
    "dispatchDiscovery",
    "encodeOddity",
    "encodeResult",
    "encodeValue",
    "expectsMore",
    "findForm",
    "findModelContext",
    "findRegistered",
    "functionName",
    "hideToJson",
    "hopeFor",
    "isInstance",
    "isNative",
    "isPromise",
    "isWritten",
    "listRegistered",
    "makeContext",
    "makeCover",
    "makeDtmcp",
    "makeFault",
    "makeKit",
    "makeNews",
    "makeWriter",
    "noteThrown",
    "openRound",
    "plainForm",
    "readGroup",
    "readRegistered",
    "readRegisteredTool",
    "readTool",
    "readWords",
    "refusal",
    "replaceMethod",
    "runRegistered",
    "runTool",
    "runsListeners",
    "saveNatives",
    "submitsItself",
    "waitForRound",
    "waitForTimers",
    "watchForm",
    "watchListeners",
    "watchRegistrations",
    "watchToolChanges",
)
"""Each is one file that holds one function of the same name."""


@cache
def _functions() -> str:
    folder = files("page_shims")
    return "\n".join(folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in KIT_PARTS)


def kit_script(name: str, *, early: bool) -> str:
    """The script that makes the kit of a document.

    Args:
        name: of a constant in the document's global scope. Nothing in the page can list such names, and this one
            is secret: whoever does not know it can't reach the kit.
        early: the script runs before any of the page.
    """
    made = f"makeKit(saveNatives(), {'true' if early else 'false'})"
    return (
        f"const {name} = (() => {{ 'use strict';\n{_functions()}\nreturn {made};\n}})();\n//# sourceURL=bridge/kit.js"
    )
