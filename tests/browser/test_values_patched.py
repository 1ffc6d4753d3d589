"""Pages that replace the built-ins, out of malice or not, do not bend what is listed, called and read there."""

import json
import re
from pathlib import Path

import pytest

from bridge.calls.agent import Agent
from tests.browser.asking import call, code, list_tools, names
from tests.browser.conftest import OpenHostile
from tests.browser.giving import without_stacks, without_uids
from tests.sites import Site

ROOT = Path(__file__).parents[2]

TOOL_NAMES = [
    "values",
    "sum",
    "later",
    "fail",
    "failLater",
    "failPlainly",
    "grow",
    "done",
    "root",
    "isRoot",
    "promised",
]


def names_in_shims() -> list[str]:
    """Every property that a shim writes or reads: a page may have put any of them on Object.prototype."""
    sources = "\n".join(file.read_text() for file in (ROOT / "page_shims").glob("*.js"))
    found = set(re.findall(r"(?<=\.)[A-Za-z]\w+|\b[A-Za-z]\w+(?=:)|(?<=[{,] )[A-Za-z]\w+(?=[,} ])", sources))
    # Without what every object has anyway, and what would make a promise of every object.
    return sorted(found - {"constructor", "hasOwnProperty", "isPrototypeOf", "then", "toString", "valueOf"})


async def check_page(agent: Agent, page: str, expected: str) -> None:
    """What is listed, what calls do and how they fail, and what values read as: as on any page."""
    assert names(await list_tools(agent, page)) == TOOL_NAMES
    assert without_uids(without_stacks((await call(agent, page, "values")).text)) == expected
    assert (await call(agent, page, "sum", {"a": [1, 2]})).text == "3"
    assert (await call(agent, page, "later", {"a": [1, {"b": None}]})).text == '{"a":[1,{"b":null}]}'
    assert (await call(agent, page, "promised")).text == '["promised",5]'
    root = json.loads((await call(agent, page, "root")).text)
    for at in (root, {"selector": "html"}):
        assert (await call(agent, page, "isRoot", {"at": at})).text == "true"
    for name in ("fail", "failLater"):
        failed = await call(agent, page, name)
        assert code(failed) == "tool_threw"
        assert failed.text == f'Tool {name!r} ran and threw: RangeError: sold out, with {{"cause":{{"code":7}}}}'
    assert (await call(agent, page, "failPlainly")).text == "Tool 'failPlainly' ran and threw: sold out"
    assert code(await call(agent, page, "nope")) == "tool_not_found"


async def open_patched(hostile: OpenHostile, site: Site, how: str, package: str = "") -> str:
    site.bodies["/names_in_shims.js"] = f"const namesInShims = {json.dumps(names_in_shims())}"
    site.bodies["/package.js"] = package
    return await hostile("patched", how)


async def plain_values(agent: Agent, hostile: OpenHostile, site: Site) -> str:
    """What the values read as on a page that patches nothing."""
    page = await open_patched(hostile, site, "plain")
    return without_uids(without_stacks((await call(agent, page, "values")).text))


@pytest.mark.threat("P7")
@pytest.mark.parametrize("how", ["replacing", "replacing and freezing", "freezing", "extending"])
async def test_a_page_that_bends_the_built_ins_bends_nothing_of_ours(
    agent: Agent, hostile: OpenHostile, site: Site, how: str
):
    expected = await plain_values(agent, hostile, site)

    page = await open_patched(hostile, site, how)

    assert '"three":3' in expected
    assert (await call(agent, page, "done")).text == "true"
    await check_page(agent, page, expected)


PACKAGES = {"zone.js": "zone.js/bundles/zone.umd.js", "core.js": "core-js-bundle/index.js"}


@pytest.mark.feature("pages.frameworks")
@pytest.mark.threat("P7")
@pytest.mark.parametrize("how", PACKAGES)
async def test_all_is_right_beside_packages_that_patch_everything(
    agent: Agent, hostile: OpenHostile, site: Site, how: str
):
    expected = await plain_values(agent, hostile, site)

    page = await open_patched(hostile, site, how, (ROOT / "node_modules" / PACKAGES[how]).read_text())

    assert (await call(agent, page, "done")).text == "true"
    await check_page(agent, page, expected)
    await call(agent, page, "grow")
    assert names(await list_tools(agent, page)) == [*TOOL_NAMES, "grown"]
    assert (await call(agent, page, "grown", {"n": 1})).text == '["grown",1]'
