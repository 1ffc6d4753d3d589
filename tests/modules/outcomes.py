"""What becomes of each tool of the module from hell."""

from pathlib import Path
from typing import Any, Final

from bridge.errors import ModuleGone, ModuleThrew, ResultUnusable

FOLDER: Final = Path(__file__).parent / "hell"

ENDLESS: Final = ("loops", "loops_in_c", "takes_no_end", "stops", "patches_builtins")
"""They report once, and their call never ends."""
POISONS: Final = "patches_json"
"""It returns "well", and the next call in its process fails or does not: have `exits` called then."""
BECOMES: Final[dict[str, Any]] = {
    "prints": "well",
    "writes": "well",
    "exits": ModuleGone,
    "crashes": ModuleGone,
    "kills_all": ModuleGone,
    "closes_all": ModuleGone,
    "raises": ModuleThrew,
    "stops_the_loop": ModuleGone,
    "forks": "well",
    "leaves_much_behind": "well",
    "patches_bridge": {"content": [{"type": "image", "data": 1, "mimeType": []}], "isError": "no"},
    "not_a_number": ResultUnusable,
    "not_text": ResultUnusable,
    "gigabyte": ResultUnusable,
    "surrogates": {"\ufffd": "\ufffd\ufffd"},
    "generates": ResultUnusable,
    "huge_number": ResultUnusable,
    "holds_itself": ResultUnusable,
    "floods": "well",
}
"""What the others return, or the error that their call ends with. It is the same each time, in whatever order."""
