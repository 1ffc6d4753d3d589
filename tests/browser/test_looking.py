"""Pictures of pages, waiting for something in them, scripts in them, and what they take their screen for."""

import base64
import struct

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.page.media import Media
from bridge.settings import PageSettings
from bridge.tools.own import Content
from tests.browser.asking import call, list_tools, open_page
from tests.browser.using import INSPECTED, Use, refused, snapshot, uid_of
from tests.sites import Site, offering, tool


@pytest.fixture
def page_settings() -> PageSettings:
    return INSPECTED


@pytest.fixture
def use(bridge: Bridge, agent: Agent) -> Use:
    return Use(bridge, agent)


# Pictures


def size_of_png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def picture(content: Content) -> tuple[str, bytes]:
    """Type and bytes of the one picture."""
    [media] = content.media
    assert isinstance(media, Media)
    return media.mime, base64.b64decode(media.data)


@pytest.mark.feature("debugging.screenshot")
async def test_a_screenshot_shows_the_view_the_page_or_an_element(use: Use, agent: Agent, site: Site):
    button = "<body style='margin: 0'><button style='width: {}px; height: {}px'>{}</button>"
    inner = site.elsewhere().page("/pictured", button.format(90, 30, "In"))
    style = "<style>::-webkit-scrollbar { display: none }</style>"
    body = f"{style}{button.format(120, 40, 'B')}<iframe src={inner}></iframe><div style='height: 1400px'>"
    page = await open_page(agent, site.page("/picture", body))
    await use("emulate", page, viewport={"width": 400, "height": 300})
    text = await snapshot(use, page)

    view = picture(await use("take_screenshot", page))
    whole = picture(await use("take_screenshot", page, full_page=True))
    element = picture(await use("take_screenshot", page, uid=uid_of(text, '"B"')))
    inside = picture(await use("take_screenshot", page, uid=uid_of(text, '"In"')))

    assert view[0] == "image/png"
    assert size_of_png(view[1]) == (400, 300)
    assert size_of_png(whole[1])[1] > 1400
    assert size_of_png(element[1]) == (120, 40)
    assert size_of_png(inside[1]) == (90, 30)


@pytest.mark.feature("debugging.screenshot")
@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
async def test_a_screenshot_is_of_the_kind_that_is_wanted(use: Use, agent: Agent, site: Site, kind: str):
    page = await open_page(agent, site.page("/kinds", "<p>x"))

    options = {} if kind == "png" else {"quality": 30}
    assert picture(await use("take_screenshot", page, format=kind, **options))[0] == f"image/{kind}"


@pytest.mark.feature("debugging.screenshot")
@pytest.mark.threat("P13")
async def test_a_large_screenshot_is_scaled_down_or_goes_to_a_file_as_it_is(use: Use, agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/huge", "<body style='margin: 0'><div style='width: 300px; height: 40000px'>")
    )

    small = await use("take_screenshot", page, full_page=True)
    whole = await use("take_screenshot", page, full_page=True, to_file=True)

    assert max(size_of_png(picture(small)[1])) <= limits.MEDIA_PIXELS
    assert "It is drawn at" in small.notes[0]
    assert "longer than the 16,384 pixels" in small.notes[1]
    assert whole.media == ()
    kept = whole.text.removesuffix("]").partition("kept in ")[2]
    assert size_of_png(await trio.Path(kept).read_bytes())[1] == limits.SCREENSHOT_PIXELS


async def test_a_picture_of_many_bytes_is_drawn_smaller(use: Use, agent: Agent, site: Site, monkeypatch):
    monkeypatch.setattr(limits, "MEDIA_BYTES", 20_000)
    noise = """<canvas id=c width=800 height=600></canvas><script>
      const context = c.getContext('2d'), image = context.createImageData(800, 600);
      for (let i = 0; i < image.data.length; i++) image.data[i] = Math.random() * 255;
      context.putImageData(image, 0, 0);
    </script>"""
    page = await open_page(agent, site.page("/noise", noise))

    assert len(picture(await use("take_screenshot", page))[1]) <= 20_000


async def test_an_element_that_is_not_shown_has_no_picture(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/hidden", "<button id=b>Seen</button>"))
    uid = uid_of(await snapshot(use, page), '"Seen"')
    await use.run(page, "void (b.style.display = 'none')")

    assert (await refused(use("take_screenshot", page, uid=uid))).code == "not_actionable"


async def test_pages_that_are_pictured_at_once_do_not_hold_each_other(use: Use, agent: Agent, site: Site):
    pages = [await open_page(agent, site.page(f"/side{number}", "<p>x")) for number in range(3)]

    kinds: list[str] = []

    async def look(page: str) -> None:
        kinds.append(picture(await use("take_screenshot", page))[0])

    async with trio.open_nursery() as nursery:
        for page in pages * 2:
            nursery.start_soon(look, page)
    assert kinds == ["image/png"] * 6


# Waiting


@pytest.mark.feature("debugging.wait")
@pytest.mark.parametrize(
    ("wanted", "change"),
    [
        ({"text": ["never", "3 items"]}, "document.body.innerHTML = '<b>3</b> items'"),
        ({"text": ["In shadow"]}, "document.body.attachShadow({mode: 'closed'}).innerHTML = '<p>In shadow'"),
        (
            {"text": ["Framed"]},
            "document.body.append(Object.assign(document.createElement('iframe'), {srcdoc: 'Framed'}))",
        ),
        ({"selector": "p.late"}, "document.body.innerHTML = '<p class=late>x'"),
        ({"selector": "#hidden"}, "hidden.hidden = false"),
    ],
)
async def test_what_comes_later_is_waited_for(use: Use, agent: Agent, site: Site, wanted: dict, change: str):
    page = await open_page(agent, site.page("/wait", "<p id=hidden hidden>secret"))

    async with trio.open_nursery() as nursery:
        await use.run(page, f"void setTimeout(() => {{ {change} }}, 150)")
        with trio.fail_after(8):
            answer = await use("wait_for", page, **wanted)
        nursery.cancel_scope.cancel()

    assert answer[next(iter(wanted))] in (next(iter(wanted.values())), wanted.get("text", [""])[-1])


async def test_a_text_of_the_next_document_is_waited_for_and_its_navigation_told(use: Use, agent: Agent, site: Site):
    there = site.page("/arrived", "<h1>Arrived")
    page = await open_page(agent, site.page("/leaves", f"<script>setTimeout(() => location = '{there}', 100)</script>"))

    answer = await use("wait_for", page, text=["Arrived"])

    assert answer["text"] == "Arrived"


@pytest.mark.feature("debugging.wait")
async def test_a_result_of_a_page_tool_that_fits_a_schema_is_waited_for(use: Use, agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/counts", offering(tool("count", "() => ({n: ++n})"), before="let n = 0;"))
    )
    await list_tools(agent, page)
    schema = {"type": "object", "properties": {"n": {"minimum": 3}}}

    answer = await use("wait_for", page, tool="count", schema=schema)

    assert answer["result"] == {"n": 3}


@pytest.mark.feature("debugging.wait")
async def test_what_never_comes_is_said(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/never", "<p hidden>x" + offering(tool("one", "() => 1"))))
    await list_tools(agent, page)

    for wanted, outcome, why in (
        ({"text": ["Nowhere"]}, "rejected", 'The text ["Nowhere"] did not come'),
        ({"selector": "p"}, "rejected", "it is there, and hidden"),
        # A tool ran, and may have done something.
        ({"tool": "one", "schema": {"const": 2}}, "unknown", "the last one did not fit"),
    ):
        error = await refused(use("wait_for", page, seconds=0.5, **wanted))
        assert (error.code, error.outcome) == ("timed_out", outcome)
        assert why in str(error)


async def test_what_cannot_be_waited_for_is_said(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/odd", ""))

    for wanted in ({}, {"text": ["a"], "selector": "a"}, {"selector": "a["}, {"text": ["a"], "schema": {}}):
        assert (await refused(use("wait_for", page, **wanted))).code == "usage"


# Scripts


@pytest.mark.feature("debugging.script")
async def test_a_script_gives_its_value_as_a_tool_does(use: Use, agent: Agent, site: Site):
    page = await open_page(
        agent, site.page("/script", "<button id=b>B</button><script>window.state = {big: 12n}</script>")
    )
    uid = uid_of(await snapshot(use, page), '"B"')

    for expression, text in (
        ("1 + 1 // two", "2"),
        ("state", '{"big":"[bigint 12]"}'),
        ("() => 'from a function'", "from a function"),
        ("async () => { await 0; return [1] }", "[1]"),
        ("Promise.resolve('later')", "later"),
        ("undefined", "undefined"),
    ):
        assert (await use("evaluate_script", page, expression=expression)).text == text
    with_element = await use("evaluate_script", page, expression="(one) => one.id", uids=[uid])
    assert with_element.text == "b"


@pytest.mark.feature("debugging.script")
async def test_a_script_calls_tools_of_the_page_as_an_agent_does(use: Use, agent: Agent, site: Site):
    tools = offering(tool("add", "({a, b}) => a + b"), tool("fail", "() => { throw new Error('no') }"))
    page = await open_page(agent, site.page("/calls", tools))
    await list_tools(agent, page)

    both = "(async () => [await callTool('add', {a: 1, b: 2}), await callTool('add', {a: 3, b: 4})])()"
    assert (await use("evaluate_script", page, expression=both)).text == "[3,7]"
    caught = "callTool('fail').catch(error => error.message)"
    assert "no" in (await use("evaluate_script", page, expression=caught)).text
    unknown = "callTool('nothing').catch(error => error.message)"
    assert "nothing" in (await use("evaluate_script", page, expression=unknown)).text


async def test_a_script_that_throws_or_is_none_is_said(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/throws", ""))

    thrown = await refused(use("evaluate_script", page, expression="() => { throw new TypeError('bad') }"))
    assert (thrown.code, thrown.said) == ("tool_threw", "TypeError: bad")
    for expression in ("let x = 1", "1 +", "}", "window.ran = 1; 2"):
        error = await refused(use("evaluate_script", page, expression=expression))
        assert (error.code, error.outcome) == ("script_invalid", "rejected")
    assert await use.run(page, "window.ran") is None


@pytest.mark.threat("P12")
@pytest.mark.parametrize("expression", ["new Promise(() => {})", "(() => { for (;;); })()"], ids=["never", "loop"])
async def test_a_script_that_nobody_waits_for_any_more_is_ended(use: Use, agent: Agent, site: Site, expression: str):
    page = await open_page(agent, site.page("/stuck", offering(tool("add", "({a}) => a + 1"))))

    with trio.move_on_after(0.3) as scope:
        await use("evaluate_script", page, expression=expression)

    assert scope.cancelled_caught
    with trio.fail_after(5):
        assert (await call(agent, page, "add", {"a": 1})).text == "2"


@pytest.mark.feature("debugging.script")
@pytest.mark.threat("P14", "C7")
async def test_a_script_runs_in_the_document_that_is_there_and_in_no_other(use: Use, agent: Agent, site: Site):
    site.page("/elsewhere", "<script>window.here = 'elsewhere'</script>")
    page = await open_page(agent, site.page("/starts", "<script>window.here = 'starts'</script>"))

    error = await refused(use("evaluate_script", page, expression="(location = '/elsewhere', new Promise(() => {}))"))

    assert error.code == "navigated_during_call"
    await use.access.find(page).wait_loaded()
    assert (await use("evaluate_script", page, expression="here")).text == "elsewhere"


@pytest.mark.threat("P8")
async def test_a_page_finds_nothing_of_ours_while_a_script_runs(use: Use, agent: Agent, site: Site):
    spy = """<script>
      const seen = [];
      function look() {
        const names = Object.getOwnPropertyNames(window).filter(name => name.startsWith('k_'));
        seen.push(String(look.caller), new Error().stack, names.join());
        return 7;
      }
    </script>"""
    page = await open_page(agent, site.page("/spy", spy))

    assert (await use("evaluate_script", page, expression="look()")).text == "7"

    kit = use.access.find(page)._kit
    assert kit not in str(await use.run(page, "JSON.stringify(seen)"))


# What it takes its screen for


@pytest.mark.feature("debugging.emulate")
async def test_a_page_takes_its_screen_and_user_for_what_is_emulated_until_that_ends(
    use: Use, agent: Agent, site: Site
):
    page = await open_page(agent, site.page("/emulated", "<p>"))
    ask = """[innerWidth, innerHeight, devicePixelRatio, matchMedia('(prefers-color-scheme: dark)').matches,
      navigator.maxTouchPoints > 0].join()"""
    before = await use.run(page, ask)

    await use(
        "emulate",
        page,
        viewport={"width": 390, "height": 844, "density": 2, "mobile": False, "touch": True},
        color_scheme="dark",
    )
    assert await use.run(page, ask) == "390,844,2,true,true"
    await agent.navigate_page(page, None, "reload")
    assert await use.run(page, ask) == "390,844,2,true,true"
    await use("emulate", page, viewport=None, color_scheme="auto")
    assert await use.run(page, ask) == before


@pytest.mark.feature("debugging.emulate")
async def test_a_page_is_taken_off_its_network_and_put_back(use: Use, agent: Agent, site: Site):
    site.page("/ping", "pong")
    page = await open_page(agent, site.page("/offline", "<p>"))
    ping = "fetch('/ping').then(() => 'there', () => 'away')"

    await use("emulate", page, offline=True)
    assert await use.run(page, ping) == "away"
    await use("emulate", page, offline=False)
    assert await use.run(page, ping) == "there"


@pytest.mark.feature("debugging.emulate")
async def test_scripts_of_a_page_run_slower(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/slower", "<p>"))

    assert (await use("emulate", page, cpu_rate=4)) == {"page": page, "cpu_rate": 4}
    assert (await refused(use("emulate", page))).code == "usage"


@pytest.mark.feature("debugging.emulate")
@pytest.mark.parametrize("body", ["<p>", "<p style='width: 9999px; height: 9999px'>"], ids=["bare", "scrollbars"])
async def test_a_window_gets_another_size(use: Use, agent: Agent, site: Site, body: str):
    page = await open_page(agent, site.page("/resized", body))

    answer = await use("resize_page", page, width=611, height=433)

    assert (answer["width"], answer["height"]) == (611, 433)
    assert await use.run(page, "[innerWidth, innerHeight].join()") == "611,433"
