"""A real Angular application in development mode: Angular itself offers the tools."""

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from tests.browser.asking import call, list_tools, names, open_page, read, wait_registered
from tests.sites import Site, offering, serve_site, tool

ROOT = Path(__file__).parents[2]
BUNDLE = "build/angular/main.js"
ANGULAR_TOOLS = ["angular:di_graph", "angular:signal_graph"]


@pytest.fixture(scope="module")
def angular() -> Iterator[Site]:
    """A site with the built application at /main.js; `make test` has built it already."""
    # The virtual environment is what runs this: only the application may need to be made.
    subprocess.run(["make", "--silent", "--assume-old=.venv/.ready", BUNDLE], cwd=ROOT, check=True)
    with serve_site() as site:
        site.bodies["/main.js"] = (ROOT / BUNDLE).read_text()
        yield site


@pytest.mark.feature("pages.frameworks")
async def test_both_tools_of_angular_are_listed_without_a_reload(agent: Agent, angular: Site):
    page = await open_page(agent, angular.page("/app", "<app-root></app-root><script src=/main.js></script>"))

    listing = await list_tools(agent, page)

    [group] = listing["groups"]
    assert group["name"] == "Angular"
    assert names(listing) == ANGULAR_TOOLS


async def test_an_application_that_starts_late_is_noticed_without_a_reload(agent: Agent, bridge: Bridge, angular: Site):
    angular.gates["/main.js"] = gate = threading.Event()
    late = """<app-root></app-root><script>addEventListener('load', () => {
      const script = document.createElement('script');
      script.src = '/main.js';
      document.head.append(script);
    })</script>"""
    handle = await open_page(agent, angular.page("/late", late))
    assert names(await list_tools(agent, handle)) == []

    gate.set()
    await wait_registered(bridge, lambda: any(bridge.registry.snapshot[handle]))

    assert [tool.name for tool in bridge.registry.snapshot[handle]] == ANGULAR_TOOLS
    assert names(await list_tools(agent, handle)) == ANGULAR_TOOLS


@pytest.mark.feature("pages.frameworks")
async def test_the_graph_of_injectors_is_read_from_the_running_application(agent: Agent, angular: Site):
    page = await open_page(agent, angular.page("/app", "<app-root></app-root><script src=/main.js></script>"))

    answer = await call(agent, page, "angular:di_graph")

    assert not answer.is_error, answer.text
    graph = json.loads(answer.text)
    [root] = graph["elementInjectorRoots"]
    assert [injector["type"] for injector in injectors(root)] == ["element", "element"]
    environments = list(injectors(graph["environmentInjectorRoot"]))
    tokens = [provider["token"] for environment in environments for provider in environment["providers"]]
    assert "[class Cart]" in tokens
    assert len(answer.text) < 50_000


async def test_the_graph_of_signals_is_read_for_an_element_that_a_selector_or_a_result_names(
    agent: Agent, angular: Site
):
    finding = offering(tool("find", "() => [document.querySelector('app-cart')]"))
    page = await open_page(agent, angular.page("/app", f"<app-root></app-root>{finding}<script src=/main.js></script>"))
    [cart] = json.loads((await call(agent, page, "find")).text)

    for target in (cart, cart["uid"], {"uid": cart["uid"]}, {"selector": "app-cart"}):
        answer = await call(agent, page, "angular:signal_graph", {"target": target})
        assert not answer.is_error, answer.text
        graph = json.loads(answer.text)
        values = {node["label"]: node["value"] for node in graph["nodes"] if node.get("label") in ("prices", "total")}
        assert values == {"prices": [4, 8], "total": 12}
        assert graph["edges"]

    root = await call(agent, page, "angular:signal_graph", {"target": {"selector": "app-root"}})
    assert not root.is_error, root.text
    assert json.loads(root.text).keys() == {"nodes", "edges"}


async def test_an_instance_is_told_whole_unless_it_leads_to_the_inside_of_a_framework(agent: Agent, angular: Site):
    values = """<script>
      class Part { constructor(...parts) { this.parts = parts } }
      const numbered = length => new Map(Array.from({length}, (_, n) => [n, {n}]));
      class Framework { constructor(size) { this.own = 7; this.of = numbered(size) } }
    </script>"""
    page = await open_page(
        agent,
        angular.page(
            "/instances",
            values
            + offering(
                tool("whole", "() => new Part(new Part({a: [1]}), new Set([new Part()]))"),
                tool("entangled", "() => ({it: new Framework(20000), plain: {a: [new Framework(0)]}})"),
                tool("data", "() => numbered(20000)"),
                tool("element", "() => Object.assign(document.createElement('nav'), {own: new Framework(20000)})"),
            ),
        ),
    )

    assert (await call(agent, page, "whole")).text == (
        '{"[class]":"Part","parts":[{"[class]":"Part","parts":[{"a":[1]}]},{"[Set]":[{"[class]":"Part","parts":[]}]}]}'
    )
    assert (await call(agent, page, "entangled")).text == (
        '{"it":{"[class]":"Framework","own":7,"of":"[not shown: Map]"},'
        '"plain":{"a":[{"[class]":"Framework","own":7,"of":{"[Map]":[]}}]}}'
    )
    assert (await call(agent, page, "data")).text.startswith('{"[Map]":[[0,{"n":0}],[1,{"n":1}]')
    assert read(await call(agent, page, "element"))["describe"] == "<nav>"


def injectors(injector: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An injector of the graph and all below it."""
    yield injector
    for child in injector["children"]:
        yield from injectors(child)
