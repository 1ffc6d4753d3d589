"""docs/tools.md: the built-in tools as they are in the code, and what a list of them costs.

`python -m scripts.tools_reference` writes it; with `--check` it says where it is not what the code says, and fails.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic_core import to_json

from bridge.calls.built_ins import BUILT_INS
from bridge.calls.project import make_resolver
from bridge.calls.toolbox import AnyTool, Offering
from bridge.serve.shapes import as_list
from bridge.serve.titles import titles
from bridge.settings import MODES, TIERS, Mode, Tier
from bridge.tools.sources.browser import BROWSER_TOOLS, is_offered

DOCUMENT: Final = "docs/tools.md"


INTRODUCTION: Final = """# Built-in tools

<!-- made by `make tools` from the code -->

Every tool that pagebridge has built in. Which of them an agent gets is said to `pagebridge serve`: `--tools` is `pages`
(without it), `debug` (all), or names with commas between them; `--mode` says what the agent may do, and `--tier` how
much its model can take. The [manifest](manifest.md) of a project has the last word. What is not offered can't be
called, and the error says which options bring it. `--lang fr` has the French titles.

## What the list costs

Bytes of the result of `tools/list`, in JSON as it is sent, without tools of a project, of skills and of `--direct`.
`--tools pages` has {pages} in each mode and tier, and stays under 4,096 bytes. `--tools debug` has:

| | `--tier compact` | `--tier mid` | `--tier full` |
|---|---|---|---|
{costs}

`--mode dev` with `--tier compact` has none of the tools for debugging, on purpose: a model that can't take more is not
for looking into pages.

## For pages and what these offer

They are there in every mode and tier: which tools of a page `call_page_tool` runs is decided tool by tool.
"""


async def _never(_: dict[str, Any], __: object) -> None:
    """Nothing runs here."""


RESOLVER: Final = make_resolver(_never)


def list_bytes(tools: Iterable[AnyTool]) -> int:
    """The size of the result of `tools/list` with these."""
    return len(to_json(as_list(Offering(tuple(tools)))))


def _size(tools: Sequence[AnyTool]) -> str:
    return f"{list_bytes(tools):,} bytes, {len(tools)} tools"


def debug(mode: Mode, tier: Tier) -> tuple[AnyTool, ...]:
    """What `--tools debug` offers."""
    return (*BUILT_INS, *(tool for tool in BROWSER_TOOLS if is_offered(tool, mode, tier)))


def write() -> str:
    """The whole document."""
    return "\n".join(_lines()).rstrip("\n") + "\n"


def _lines() -> Iterator[str]:
    rows = [[f"`--mode {mode}`", *(_size(debug(mode, tier)) for tier in TIERS)] for mode in MODES]
    costs = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    yield INTRODUCTION.format(pages=_size(BUILT_INS), costs=costs)
    for tool in BUILT_INS:
        yield from _tool(tool, "in every mode and tier")
    yield "## For debugging"
    yield ""
    for tool in BROWSER_TOOLS:
        offered = {mode: [tier for tier in TIERS if is_offered(tool, mode, tier)] for mode in MODES}
        told = [
            f"`{mode}`" if tiers == list(TIERS) else f"`{mode}` from tier `{tiers[0]}` on"
            for mode, tiers in offered.items()
            if tiers
        ]
        yield from _tool(tool, f"in {', '.join(told)}")
    yield "## For modules of a project"
    yield ""
    yield from _tool(RESOLVER, "in `act`, `dev`, where a project has modules")


def _tool(tool: AnyTool, where: str) -> Iterator[str]:
    yield f"### {tool.name}"
    yield ""
    yield f"*{tool.title}* · *{titles('fr')[tool.name]}*"
    yield ""
    yield tool.description
    yield ""
    kind = "changes nothing" if tool.read_only else "may change something"
    words = "holds words of a page" if tool.page_derived else "holds none of a page's words"
    yield f"It is there {where}; it {kind}, and its answer {words}."
    yield ""
    parameters: Mapping[str, Any] = tool.parameters
    if parameters["properties"]:
        yield "| argument | JSON Schema | |"
        yield "|---|---|---|"
    for name, schema in parameters["properties"].items():
        rest = {keyword: part for keyword, part in schema.items() if keyword != "description"}
        needed = "**needed**" if name in parameters["required"] else ""
        told = ". ".join(filter(None, (needed, schema.get("description", "").removesuffix("."))))
        cells = (f"`{name}`", f"`{json.dumps(rest, ensure_ascii=False)}`", told)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("  |", " |")
    if parameters["properties"]:
        yield ""


def main() -> int:
    path = Path(__file__).parents[1] / DOCUMENT
    made = write()
    if "--check" not in sys.argv:
        path.write_text(made, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != made:
        print(f"{DOCUMENT} is not what the code says: run `make tools`.")
        return 1
    print(f"{DOCUMENT}: {made.count(chr(10) + '### ')} tools.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
