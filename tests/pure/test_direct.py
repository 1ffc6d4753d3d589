"""Which page tools are tools of their own, what their names mean to an agent, and when it is told of a change."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from bridge import limits
from bridge.calls.direct import DirectTools, offer_directly
from bridge.calls.gate import Gate
from bridge.errors import UsageError
from bridge.origins import is_loopback, read_origin
from bridge.settings import AgentSettings, PageSettings
from bridge.tools.registry import Registry
from bridge.tools.tool import PageTools
from tests.pure.offers import offer, with_frame

LOCAL = "http://127.0.0.1:3000"


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1",
        "https://127.255.0.3:8443",
        "http://[::1]:3000",
        "http://localhost",
        "https://localhost:3000",
        "http://app.localhost:3000",
        "http://a.b.localhost",
    ],
)
def test_an_origin_of_this_machine_is_loopback(origin: str):
    assert is_loopback(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "opaque",
        "",
        "null",
        "http://example.com",
        "http://localhost.example.com",
        "http://notlocalhost",
        "http://127.0.0.1.example.com",
        "http://example.com/localhost",
        "http://localhost@example.com",
        "http://0.0.0.0",
        "http://128.0.0.1",
        "http://10.0.0.1",
        "http://0127.0.0.1",
        "http://127.1",
        "http://[::2]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:7f00:1]",
        "http://[::1]evil",
        "http://::1",
        "http://localhost.",
        "http://.localhost",
        "http://LOCALHOST",
        "http://localhost:3000/",
        " http://localhost",
        "http://localhost\n",
        "ftp://localhost",
        "file:///home/localhost",
        "chrome-extension://localhost",
        "javascript://localhost",
    ],
)
def test_nothing_else_is_loopback(origin: str):
    assert is_loopback(origin) is False


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://Shop.Example:443/", "https://shop.example"),
        ("http://shop.example:80", "http://shop.example"),
        ("http://shop.example:443", "http://shop.example:443"),
        ("http://192.168.1.5:8080", "http://192.168.1.5:8080"),
        ("http://[2001:DB8:0::1]:8080", "http://[2001:db8::1]:8080"),
    ],
)
def test_an_origin_that_a_person_writes_is_read_as_the_browser_writes_it(text: str, origin: str):
    assert read_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shop.example",
        "shop.example:443",
        "https://",
        "https://*.example",
        "https://shop.example/path",
        "https://shop.example?",
        "https://shop.example#",
        "https://me@shop.example",
        "https://shop.example:port",
        "https://shop.example:99999",
        "https://[::1",
        "https://bücher.example",
        "file:///home",
        "https://shop.example, https://other.example",
    ],
)
def test_what_is_not_one_origin_is_refused(text: str):
    with pytest.raises(UsageError, match="is not an origin"):
        read_origin(text)


def offered(*pages: PageTools, trusted: frozenset[str] = frozenset()) -> list[str]:
    settings = AgentSettings(direct=True, trusted_origins=trusted)
    gate = Gate(PageSettings(), settings)
    return list(offer_directly({tools.page: tools for tools in pages}, settings, {}, gate).tools)


@pytest.mark.feature("direct.origins")
def test_only_loopback_and_named_origins_are_offered():
    pages = [offer("add", origin=LOCAL), offer("buy", origin="https://shop.example", page="p2")]

    assert offered(*pages) == ["page_add"]
    assert offered(*pages, trusted=frozenset({"https://shop.example"})) == ["page_add", "page_buy"]
    assert offered(*pages, trusted=frozenset({"http://shop.example"})) == ["page_add"]


def test_an_iframes_tool_needs_a_trusted_page_and_a_trusted_origin_of_its_own():
    foreign_frame = with_frame(offer("own", origin=LOCAL), "framed", origin="https://shop.example")
    foreign_page = with_frame(offer("own", origin="https://shop.example"), "framed", origin=LOCAL)

    assert offered(foreign_frame) == ["page_own"]
    assert offered(foreign_page) == []
    assert offered(foreign_page, trusted=frozenset({"https://shop.example"})) == ["page_own", "page_framed"]


def test_a_tool_that_can_not_be_called_is_not_offered():
    tools = offer("good", "bad", origin=LOCAL)
    [document] = tools.documents
    [group] = document.groups
    bad = replace(group.tools[1], schema=None, schema_problem="it is odd")
    document = replace(document, groups=(replace(group, tools=(group.tools[0], bad)),))

    assert offered(replace(tools, documents=(document,))) == ["page_good"]


@dataclass
class Agent:
    """Direct tools over a registry of its own; `news` counts the notices."""

    registry: Registry = field(default_factory=Registry)
    news: int = 0
    settled: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        async def settle() -> None:
            self.settled()

        settings = AgentSettings(direct=True)
        self.direct = DirectTools(self.registry, settings, settle, Gate(PageSettings(), settings))

    def publish(self, *names: str, page: str = "p1", document: str = "1", origin: str = LOCAL, **facts: str) -> None:
        self.registry.publish(offer(*names, origin=origin, page=page, document=document, **facts))

    async def count_news(self) -> None:
        while True:
            await self.direct.wait_news()
            self.news += 1

    async def counted(self) -> int:
        """Wait until nothing more can come, and return how many came since the last time."""
        await trio.sleep(10 * limits.NOTICE_SECONDS)
        news, self.news = self.news, 0
        return news


@pytest.fixture
async def agent(nursery: trio.Nursery) -> Agent:
    """An agent whose notices are counted; the test's clock must jump."""
    agent = Agent()
    nursery.start_soon(agent.count_news)
    await wait_all_tasks_blocked()
    return agent


@pytest.mark.feature("direct.tools")
async def test_each_change_is_one_notice(agent: Agent, autojump_clock: MockClock):
    agent.publish("add")
    assert await agent.counted() == 1
    agent.publish("add", "more")
    assert await agent.counted() == 1
    agent.publish("add", "more", description="Changed")
    assert await agent.counted() == 1
    agent.registry.withdraw("p1")
    assert await agent.counted() == 1


async def test_an_equal_list_is_no_notice(agent: Agent, autojump_clock: MockClock):
    agent.publish("add")
    assert await agent.counted() == 1
    agent.publish("add")
    agent.publish("add", document="2")
    agent.registry.withdraw("p1")
    agent.publish("add", document="3")

    assert await agent.counted() == 0


async def test_what_is_not_offered_is_no_notice(agent: Agent, autojump_clock: MockClock):
    agent.publish("add", origin="https://shop.example")

    assert await agent.counted() == 0


async def test_a_slow_reload_that_changes_nothing_is_no_notice(agent: Agent, autojump_clock: MockClock):
    agent.publish("add")
    assert await agent.counted() == 1
    agent.settled = lambda: agent.publish("add", document="2")
    agent.registry.withdraw("p1")

    assert await agent.counted() == 0


async def test_who_listed_during_a_reload_is_told_that_the_tools_are_back(agent: Agent, autojump_clock: MockClock):
    agent.publish("add")
    assert await agent.counted() == 1
    agent.registry.withdraw("p1")
    assert not agent.direct.show()
    agent.publish("add", document="2")

    assert await agent.counted() == 1
    agent.publish("add", document="3")
    assert await agent.counted() == 0


async def test_a_list_asked_for_before_the_notice_does_not_take_its_place(agent: Agent, autojump_clock: MockClock):
    agent.publish("add")
    assert list(agent.direct.show()) == ["page_add"]

    assert await agent.counted() == 1


async def test_a_page_that_changes_all_the_time_is_told_of_at_a_bounded_rate(agent: Agent, autojump_clock: MockClock):
    for number in range(100):
        agent.publish(f"tool{number}")
        await trio.sleep(limits.NOTICE_SECONDS / 10)

    assert 1 <= await agent.counted() <= 12


def test_a_name_means_what_was_shown_for_it():
    agent = Agent()
    agent.publish("add")
    agent.direct.show()
    agent.publish("add", description="Changed")

    found = agent.direct.find("page_add")
    assert found is not None
    assert found.tool.description == ""
    assert agent.direct.find("page_never") is None


def test_a_name_means_the_tool_that_the_agent_was_told_of_last():
    agent = Agent()
    agent.publish("add")
    agent.direct.show()
    agent.direct.tell(offer("add", origin=LOCAL, document="2", description="Changed"))

    found = agent.direct.find("page_add")
    assert found is not None
    assert found.tool.description == "Changed"


def test_a_name_never_comes_to_mean_another_origin_without_a_new_list():
    agent = Agent()
    agent.publish("add")
    agent.direct.show()
    agent.direct.tell(offer("add", origin="http://localhost:4000", document="2"))

    found = agent.direct.find("page_add")
    assert found is not None
    assert found.tool.origin == LOCAL


def test_a_page_that_is_gone_leaves_its_names_to_nobody():
    agent = Agent()
    agent.publish("add")
    agent.direct.show()
    agent.registry.withdraw("p1")
    agent.publish("add", page="p2")

    assert list(agent.direct.show()) == ["page_add_p2"]
    found = agent.direct.find("page_add")
    assert found is not None
    assert found.tools.page == "p1"


def test_names_are_forgotten_oldest_first_and_never_the_present_ones():
    agent = Agent()
    for number in range(2 * limits.DIRECT_NAMES_KEPT):
        agent.publish("keep", f"tool{number}")
        agent.direct.show()

    assert agent.direct.find("page_keep") is not None
    assert agent.direct.find("page_tool0") is None
    kept = [number for number in range(2 * limits.DIRECT_NAMES_KEPT) if agent.direct.find(f"page_tool{number}")]
    assert len(kept) == limits.DIRECT_NAMES_KEPT - 1


def test_the_rest_of_too_many_tools_is_counted_for_its_page():
    agent = Agent()
    agent.publish(*(f"a{number}" for number in range(60)))
    agent.publish(*(f"b{number}" for number in range(60)), page="p2")

    assert len(agent.direct.show()) == limits.DIRECT_TOOLS
    first, second = (agent.registry.find(page) for page in ("p1", "p2"))
    assert first is not None
    assert second is not None
    assert agent.direct.notes(first) == ()
    [note] = agent.direct.notes(second)
    assert note.startswith("20 tools of this page are not offered")
    assert "call_page_tool" in note


def test_a_foreign_origin_is_told_with_what_would_trust_it():
    direct = Agent().direct

    [note] = direct.notes(offer("buy", origin="https://shop.example"))
    assert "https://shop.example" in note
    assert "--trust-origin" in note
    assert direct.notes(offer(origin="https://shop.example")) == ()
