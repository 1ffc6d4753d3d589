"""The page shims as one script, read from the package `page_shims`: what is reviewed is what runs."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

KIT_PARTS: Final = (
    "addRegistered",
    "appendTo",
    "attributeText",
    "besidesMessage",
    "bigintText",
    "binaryKind",
    "bytesOf",
    "classNameAt",
    "classOf",
    "clipText",
    "costOf",
    "counted",
    "dataStart",
    "describeAnswer",
    "describeBinary",
    "describeKind",
    "describeNode",
    "describeResult",
    "describeRound",
    "describeThrown",
    "dispatchDiscovery",
    "drawSmaller",
    "elementAt",
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
    "fieldKey",
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
    "isDataUrl",
    "isError",
    "isFull",
    "isKeyMarker",
    "isMarker",
    "isNative",
    "isPromise",
    "isScriptless",
    "isSound",
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
    "makeInside",
    "makeKit",
    "makeNews",
    "makeRun",
    "makeRuns",
    "markerShape",
    "measureJpeg",
    "measurePicture",
    "mintUid",
    "nextIndex",
    "nodeText",
    "noteInsider",
    "noteThrown",
    "openElements",
    "openRound",
    "openSheet",
    "openTable",
    "ownPromise",
    "partAt",
    "pictureProblem",
    "placeElements",
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
    "saveHands",
    "saveKinds",
    "saveNatives",
    "savePictures",
    "saveReaders",
    "selectPart",
    "shapeOf",
    "shapeWords",
    "showBytes",
    "showCanvas",
    "sizeOf",
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
    "writeElement",
    "writeJson",
    "writeMarker",
    "writeString",
    "writeText",
)
"""Each is one file that holds one function of the same name."""

HANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "answerScriptCall": (),
    "chooseOptions": ("findOption", "optionLabels", "tellChanged"),
    "controlOf": ("fieldWords",),
    "heldElement": (),
    "hitProblem": (),
    "labelOf": (),
    "matchSelector": (),
    "measurePage": (),
    "nameElements": ("fieldWords",),
    "nextScriptCall": (),
    "runScript": ("openScriptCalls",),
    "selectAll": (),
    "setControl": ("tellChanged",),
    "twoFrames": (),
    "viewSize": (),
}
"""What tools of the bridge's own do in a document: each is sent with the parts that it needs when one needs it, so that
no document has to hold it."""


_SCHEMES: Final = ("https?", "file", "about", "blob")
"""Of documents that may be asked for tools; those of the last two have the origin of who made them."""


@cache
def _functions() -> str:
    return "\n".join(map(_read, KIT_PARTS))


def _read(name: str) -> str:
    return files("page_shims").joinpath(f"{name}.js").read_text(encoding="utf-8")


@cache
def _hand(name: str) -> str:
    return "\n".join(map(_read, (*HANDS[name], name)))


def kit_script(name: str, *, early: bool) -> str:
    """The script that makes the kit of a document.

    Args:
        name: of a constant in the document's global scope. Nothing in the page can list such names, and this one
            is secret: whoever does not know it can't reach the kit.
        early: the script runs before any of the page.
    """
    made = f"makeKit(saveNatives(), {'true' if early else 'false'})"
    # A script at document start comes to every document of its page, also to those of the browser and of extensions.
    where = f"/^(?:{'|'.join(_SCHEMES)}):$/.test(location.protocol) && " if early else ""
    return (
        f"const {name} = {where}(() => {{ 'use strict';\n{_functions()}\nreturn {made};\n}})();\n"
        "//# sourceURL=bridge/kit.js"
    )


def hand_declaration(name: str, kit: str) -> str:
    """The function that does what a hand is for; it takes what the hand does.

    Args:
        name: of one of `HANDS`.
        kit: the secret name of the document's kit.
    """
    # Strict, and so nothing that it calls can reach it, and read that name.
    return (
        f"function() {{ 'use strict';\n{_hand(name)}\nreturn {name}({kit}('[\"inside\"]'), arguments);\n}}\n"
        "//# sourceURL=bridge/hand.js\n"
    )
