"""The page shims as one script, read from the package `page_shims`: what is reviewed is what runs."""

from functools import cache
from importlib.resources import files
from typing import Final

KIT_PARTS: Final = (
    "addRegistered",
    "appendTo",
    "attributeText",
    "besidesMessage",
    "bigintText",
    "classNameAt",
    "classOf",
    "clipText",
    "costOf",
    "counted",
    "describeAnswer",
    "describeKind",
    "describeNode",
    "describeResult",
    "describeRound",
    "describeThrown",
    "dispatchDiscovery",
    "encodeAny",
    "encodeFields",
    "encodeHead",
    "encodeInstance",
    "encodeList",
    "encodeMember",
    "encodeObject",
    "encodeOddity",
    "encodeShape",
    "encodeValue",
    "errorWords",
    "escapeCut",
    "escapeKey",
    "escapeToken",
    "expectsMore",
    "fieldsShape",
    "findForm",
    "findModelContext",
    "findRegistered",
    "foreignKind",
    "functionName",
    "getterOf",
    "hasStack",
    "headOf",
    "hideToJson",
    "holdsSome",
    "hopeFor",
    "isClass",
    "isCount",
    "isError",
    "isFull",
    "isKeyMarker",
    "isMarker",
    "isNative",
    "isPromise",
    "isWindow",
    "isWritten",
    "jsonForm",
    "keysWords",
    "listRegistered",
    "makeContext",
    "makeCover",
    "makeDtmcp",
    "makeFault",
    "makeHead",
    "makeKit",
    "makeNews",
    "makeRun",
    "makeRuns",
    "markerShape",
    "nextIndex",
    "nodeText",
    "noteInsider",
    "noteThrown",
    "openRound",
    "openSheet",
    "openTable",
    "partAt",
    "placeIn",
    "pointerTo",
    "prototypeNamed",
    "quoteText",
    "readBinary",
    "readBuiltin",
    "readEntries",
    "readError",
    "readGroup",
    "readProgress",
    "readRegistered",
    "readRegisteredTool",
    "readTool",
    "readWords",
    "refusal",
    "regexpText",
    "replaceMethod",
    "runRegistered",
    "runTool",
    "runsListeners",
    "saveKinds",
    "saveNatives",
    "saveReaders",
    "selectPart",
    "shapeOf",
    "shapeWords",
    "spend",
    "submitsItself",
    "thrownBounds",
    "thrownWords",
    "topPlace",
    "waitForRound",
    "waitForTimers",
    "watchForm",
    "watchListeners",
    "watchRegistrations",
    "watchToolChanges",
    "wrapTool",
    "writeJson",
    "writeMarker",
    "writeString",
    "writeText",
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
