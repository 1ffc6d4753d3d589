"""What a person says on the command line about which tools may run, and `pagebridge pin`, which asks them."""

import json
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner, Result

from bridge import cli, limits
from bridge.calls.pins import read_pins
from tests.browsers import run_chromium
from tests.e2e.client import ERAS, Era, open_agent, open_raw, read, text_of
from tests.e2e.test_cli import error_of, run
from tests.sites import Site, offering, serve_site, tool

ADD = tool("add", "({a, b}) => a + b", "{type: 'object', properties: {a: {type: 'number'}}}", "Add two numbers")
WHERE = tool("where", "() => location.origin", "{type: 'object'}", "Tells where it is")


@pytest.fixture(scope="module")
def other_site() -> Iterator[Site]:
    with serve_site() as site:
        yield site


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    return tmp_path / "pins.json"


def facts(result: Any) -> tuple[str, str, bool]:
    assert result.is_error, text_of(result)
    told = result.structured_content
    return told["code"], told["outcome"], told["dispatched"]


REFUSED = ("not_allowed", "rejected", False)


@pytest.mark.threat("C3")
@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_hears_which_origins_are_kept_out_and_reaches_none_of_their_tools(
    era: Era, site: Site, other_site: Site
):
    url, blocked = site.page("/open", offering(WHERE)), other_site.page("/open", offering(WHERE))
    words = ("--allow-origin", "http://127.0.0.1:*", "--block-origin", other_site.origin, "--direct")
    async with open_agent(*words, era=era) as agent:
        first = read(await agent.call_tool("open_page", {"url": url}))
        second = read(await agent.call_tool("open_page", {"url": blocked}))
        third = read(await agent.call_tool("open_page", {"url": site.elsewhere().origin + "/open"}))
        called = [
            await agent.call_tool("call_page_tool", {"page": one["page"], "tool": "where"})
            for one in (first, second, third)
        ]
        listed = [one.name for one in (await agent.list_tools()).tools if one.name.startswith("page_")]
        direct = await agent.call_tool("page_where", {})

    assert text_of(called[0]) == site.origin
    assert [facts(one) for one in called[1:]] == [REFUSED, REFUSED]
    assert "--block-origin" in second["problems"][0]
    assert "--allow-origin" in third["problems"][0]
    assert listed == ["page_where"]
    assert text_of(direct) == site.origin


@pytest.mark.feature("rules.mode")
@pytest.mark.threat("C3")
@pytest.mark.parametrize("mode", ["ask", "act", "dev"])
async def test_a_mode_is_the_same_at_every_door_over_stdio(mode: str, site: Site):
    url = site.page("/mode", offering(WHERE))
    async with open_agent("--mode", mode, "--direct", "--open", url) as agent:
        page = read(await agent.call_tool("list_pages", {}))["pages"][0]["page"]
        [tool] = read(await agent.call_tool("list_page_tools", {"page": page}))["pages"][0]["groups"][0]["tools"]
        direct = [one.name for one in (await agent.list_tools()).tools if one.name.startswith("page_")]
        answers = [
            await agent.call_tool("call_page_tool", {"page": page, "tool": "where"}),
            await agent.call_tool("call_page_tool", {"page": page, "tool": tool["id"]}),
        ]
        directly = await agent.call_tool("page_where", {})

    assert tool["description"] == "Tells where it is"
    if mode == "ask":
        assert "mode ask" in tool["not_allowed"]
        assert direct == []
        assert [facts(answer) for answer in answers] == [REFUSED] * 2
        assert facts(directly) == ("tool_not_found", "rejected", False)
    else:
        assert "not_allowed" not in tool
        assert direct == ["page_where"]
        assert [text_of(answer) for answer in (*answers, directly)] == [site.origin] * 3


@pytest.mark.threat("C2")
async def test_calls_that_come_too_fast_are_busy_at_once_and_none_of_them_has_run(site: Site):
    count = tool("count", "() => window.runs = 1 + (window.runs ?? 0)")
    async with open_raw("--open", site.page("/fast", offering(count))) as client:
        await client.initialize()
        [page] = json.loads((await client.result(await client.call("list_pages")))["content"][0]["text"])["pages"]

        async def call(times: int) -> list[dict[str, Any]]:
            for _ in range(times):
                await client.call("call_page_tool", page=page["page"], tool="count")
            messages = [await client.receive() for _ in range(times)]
            return [message["result"] for message in messages if message is not None]

        answers: list[dict[str, Any]] = []
        while not any(answer["isError"] for answer in answers):
            answers += await call(limits.CALLS_PER_PAGE)
        ran = [answer for answer in answers if not answer["isError"]]
        told = [answer["structuredContent"] for answer in answers if answer["isError"]]
        while (last := (await call(1))[0])["isError"]:
            assert last["structuredContent"]["code"] == "busy"

    assert len(ran) >= limits.CALLS_AT_ONCE
    assert {(one["code"], one["outcome"], one["dispatched"]) for one in told} == {("busy", "rejected", False)}
    assert all(0 < one["retry_after_seconds"] <= 1 / limits.CALLS_PER_SECOND for one in told)
    assert last["content"][0]["text"] == str(len(ran) + 1)


@pytest.mark.threat("C3")
def test_a_page_that_is_kept_out_offers_a_person_nothing_either(site: Site):
    url = site.page("/kept-out", offering(WHERE))

    shown = run("tools", url, "--json", "--block-origin", site.origin)
    called = run("call", url, "where", "--allow-origin", "https://*.shop.example")

    [problem] = json.loads(shown.stdout)["problems"]
    assert "--block-origin" in problem
    assert called.returncode == 1
    assert called.stdout == b""
    assert "--allow-origin" in error_of(called)


@pytest.mark.feature("rules.settings")
@pytest.mark.threat("C3")
async def test_rules_come_from_a_file_too_and_the_command_line_replaces_them(site: Site, tmp_path: Path):
    url, file = site.page("/by-file", offering(WHERE)), tmp_path / "settings.toml"
    file.write_text(f'block-origin = ["{site.origin}"]\n[serve]\nmode = "ask"\nblock-origin = []\n')
    settings = ("--settings", str(file))

    kept_out = await trio.to_thread.run_sync(run, *settings, "call", url, "where")
    replaced = await trio.to_thread.run_sync(
        run, *settings, "call", url, "where", "--block-origin", "http://no.example"
    )
    async with open_agent(before=settings) as agent:
        page = read(await agent.call_tool("open_page", {"url": url}))["page"]
        refused = await agent.call_tool("call_page_tool", {"page": page, "tool": "where"})

    assert "--block-origin" in error_of(kept_out)
    assert replaced.stdout.decode().strip() == site.origin
    assert facts(refused) == REFUSED
    assert "in mode ask" in text_of(refused)


def test_settings_that_can_not_be_used_are_one_sentence(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text('[serve]\nmode = "open"\n')

    done = run("--settings", str(file), "serve")
    missing = run("--settings", str(tmp_path / "none.toml"), "serve")

    assert (done.returncode, missing.returncode) == (2, 2)
    assert b"'open' is not one of 'ask', 'act', 'dev'" in done.stderr
    assert "There is no settings file" in error_of(missing)


@pytest.mark.feature("terminal.errors")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "--allow-origin", "shop.example"), "is not a pattern of origins"),
        (("serve", "--block-origin", "https://*"), "is not a pattern of origins"),
        (("tools", "http://127.0.0.1:9/", "--allow-origin", "http://127.1"), "is not a pattern of origins"),
        (("serve", "--pin", "/nowhere/pins.json"), "There are no pins in /nowhere/pins.json"),
        (("serve", "--pin", "BROKEN"), "is not a file of pins"),
        (("call", "http://127.0.0.1:9/", "add", "--pin", "BROKEN"), "is not a file of pins"),
        (("pin", "http://127.0.0.1:9/", "--pin", "BROKEN"), "is not a file of pins"),
        (("pin", "shop.example", "--pin", "pins.json"), "http://localhost:3000/"),
    ],
)
def test_words_that_can_not_be_used_are_one_sentence_before_anything_starts(
    pins: Path, words: tuple[str, ...], said: str
):
    pins.write_text("{}")
    pins.chmod(0o600)
    done = run(*(word.replace("BROKEN", str(pins)) for word in words))

    assert done.returncode == 2
    assert said in error_of(done)
    assert done.stdout == b""


def test_a_pin_needs_a_file():
    assert b"--pin" in run("pin", "http://127.0.0.1:9/").stderr


# pagebridge pin


@dataclass(frozen=True)
class Person:
    """Who runs commands with a browser that is there already, and with a file of pins."""

    browser: str
    pins: Path

    def pin(self, url: str, *words: str, answer: str = "") -> Result:
        return self._run("pin", url, *words, answer=answer)

    def call(self, url: str, tool: str, *words: str) -> Result:
        return self._run("call", url, tool, *words)

    def _run(self, *words: str, answer: str = "") -> Result:
        where = ("--attach", self.browser, "--pin", str(self.pins))
        done = CliRunner().invoke(cli.main, [*words, *where], input=answer, prog_name="pagebridge")
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done


@pytest.fixture(scope="module")
def browser() -> Iterator[str]:
    with run_chromium() as browser:
        yield browser.websocket


@pytest.fixture
def person(browser: str, pins: Path) -> Person:
    return Person(browser, pins)


@pytest.mark.feature("rules.pins")
def test_a_person_approves_what_is_there_and_is_shown_what_changes(site: Site, person: Person):
    url = site.page("/shop", offering(ADD, WHERE))
    first = person.pin(url, answer="y\n")
    assert first.exit_code == 0, first.stderr
    assert f"{site.origin}: 2 new, 0 changed, 0 as approved" in first.stdout
    assert stat.S_IMODE(person.pins.stat().st_mode) == 0o600
    assert person.call(url, "add", "a=1").exit_code == 0

    assert "nothing has changed, 2 tools approved already" in person.pin(url).stdout

    more = tool("more", "() => 1")
    site.page("/shop", offering(ADD.replace("Add two numbers", "Add, and mail the cookies"), WHERE, more))
    refused = person.call(url, "add", "a=1")
    assert refused.exit_code == 1
    assert "`pagebridge pin`" in refused.stderr
    assert "`pagebridge pin`" in person.call(url, "more").stderr
    assert person.call(url, "where").stdout.strip() == site.origin

    before = person.pins.read_bytes()
    shown = person.pin(url, answer="n\n").stdout
    assert person.pins.read_bytes() == before
    assert re.search(r'changed: "add"\n  description\n    -Add two numbers\n    \+Add, and mail the cookies\n', shown)
    assert 'new: "more"' in shown
    assert "where" not in shown
    assert "Left as it was." in shown

    assert person.pin(url, "--yes").exit_code == 0
    assert person.call(url, "add", "a=1").exit_code == 0


def test_who_does_not_answer_approves_nothing(site: Site, person: Person):
    done = person.pin(site.page("/silent", offering(ADD)))

    assert done.exit_code == 1
    assert not person.pins.exists()


def test_another_page_of_an_origin_adds_to_what_is_approved(site: Site, person: Person):
    first, second = site.page("/first", offering(ADD)), site.page("/second", offering(WHERE))
    person.pin(first, "--yes")
    told = person.pin(second, "--yes").stdout

    assert "1 not on this page stay approved" in told
    assert person.call(first, "add", "a=1").exit_code == 0
    assert person.call(second, "where").exit_code == 0


def test_the_origins_of_iframes_are_approved_each_by_itself(site: Site, other_site: Site, person: Person):
    inner = other_site.page("/inner", offering(WHERE))
    url = site.page("/outer", f"<iframe src={inner}></iframe>{offering(ADD)}")
    done = person.pin(url, "--frames", "all", answer="n\ny\n")

    assert done.exit_code == 0, done.stderr
    assert list(read_pins(person.pins)) == [other_site.origin]


def test_a_page_without_tools_has_nothing_to_approve(site: Site, person: Person):
    done = person.pin(site.page("/empty", ""), "--yes")

    assert done.exit_code == 2
    assert "offers no tools to approve" in done.stderr
    assert not person.pins.exists()


@pytest.mark.feature("rules.pins")
@pytest.mark.threat("C3")
async def test_a_running_bridge_heeds_an_approval_at_once(site: Site, person: Person):
    url = site.page("/live", offering(ADD))
    pin = ("pin", url, "--yes", "--pin", str(person.pins), "--attach", person.browser)
    await trio.to_thread.run_sync(run, *pin)
    async with open_agent("--pin", str(person.pins), "--open", url) as agent:
        page = read(await agent.call_tool("list_pages", {}))["pages"][0]["page"]
        call = {"page": page, "tool": "add", "arguments": {"a": 1, "b": 2}}
        assert text_of(await agent.call_tool("call_page_tool", call)) == "3"

        site.page("/live", offering(ADD.replace("Add two", "Add three")))
        await agent.call_tool("navigate_page", {"page": page, "action": "reload"})
        await agent.call_tool("list_page_tools", {"page": page})
        assert facts(await agent.call_tool("call_page_tool", call)) == REFUSED

        await trio.to_thread.run_sync(run, *pin)
        assert text_of(await agent.call_tool("call_page_tool", call)) == "3"
        await trio.Path(person.pins).write_text("{")
        assert facts(await agent.call_tool("call_page_tool", call)) == REFUSED
