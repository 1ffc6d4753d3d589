"""Real input events: they reach the element that was named and no other, and what they start is waited for and told."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
import trio

from bridge import limits
from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.errors import BridgeError, ElementGone
from bridge.folders import Folders
from bridge.page.hands import open_element
from bridge.page.input import _press_at, find_point, hover
from bridge.settings import PageSettings
from tests.browser.asking import open_page, wait_until
from tests.browser.using import INSPECTED, Use, refused, snapshot, uid_of
from tests.sites import Site

SAYS = """<script>
  const said = [];
  for (const kind of ['pointerover', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu',
                      'keydown', 'keyup', 'input', 'change', 'dragstart', 'drop'])
    document.addEventListener(kind, event => said.push(
      [kind, event.composedPath()[0].id, event.isTrusted, event.key ?? event.detail]), true);
</script>"""
"""Keeps what happens: kind, id of the element, whether it was real, the key or the count of clicks."""


@pytest.fixture
def page_settings() -> PageSettings:
    return INSPECTED


@pytest.fixture
def use(bridge: Bridge, agent: Agent) -> Use:
    return Use(bridge, agent)


async def said(use: Use, page: str) -> list[list[Any]]:
    return json.loads(await use.run(page, "JSON.stringify(said)"))


async def open_with_uid(use: Use, agent: Agent, url: str, part: str) -> tuple[str, str]:
    page = await open_page(agent, url)
    return page, uid_of(await snapshot(use, page), part)


# Clicks


@pytest.mark.feature("debugging.click")
async def test_a_click_is_a_real_one_and_reaches_its_element_wherever_that_is(use: Use, agent: Agent, site: Site):
    body = f"{SAYS}<div style='height: 3000px'></div><button id=b>Buy</button>"
    page, uid = await open_with_uid(use, agent, site.page("/click", body), '"Buy"')

    answer = await use("click", page, uid=uid)

    assert answer == {"page": page}
    assert await said(use, page) == [
        ["pointerover", "b", True, 0],
        ["mousedown", "b", True, 1],
        ["mouseup", "b", True, 1],
        ["click", "b", True, 1],
    ]


async def test_clicks_can_be_double_of_another_button_and_with_keys_held(use: Use, agent: Agent, site: Site):
    body = f"{SAYS}<button id=b onclick='window.held = [event.ctrlKey, event.shiftKey]'>Buy</button>"
    page, uid = await open_with_uid(use, agent, site.page("/clicks", body), '"Buy"')

    await use("click", page, uid=uid, double=True)
    await use("click", page, uid=uid, button="right")
    await use("click", page, uid=uid, modifiers=["Control", "Shift"])

    kinds = [kind for kind, *_ in await said(use, page)]
    assert kinds.count("dblclick") == 1
    assert kinds.count("contextmenu") == 1
    assert await use.run(page, "String(held)") == "true,true"


async def test_what_is_in_frames_and_shadow_roots_is_clicked(use: Use, agent: Agent, site: Site):
    real = "<button onclick='this.textContent = event.isTrusted'>"
    button = f"<body style='margin: 0'><div style='height: {{}}px'></div>{real}{{}}</button>"
    deepest = site.elsewhere().page("/deepest", button.format(2000, "Deepest"))
    inner = site.elsewhere().page(
        "/inner", button.format(500, "Other") + f"<iframe src={deepest} style='margin: 40px'></iframe>"
    )
    same = site.page("/same", button.format(900, "Same"))
    shadow = f"""<div id=host></div><script>
      host.attachShadow({{mode: 'closed'}}).innerHTML = "{real}Shadow</button>"
    </script>"""
    frames = f"""<div style='height: 1500px'></div><iframe src={inner} style='border: 7px solid; margin: 20px'></iframe>
      <iframe src={same}></iframe>"""
    page = await open_page(agent, site.page("/frames", shadow + frames))

    for name in ("Shadow", "Deepest", "Other", "Same"):
        uid = uid_of(await snapshot(use, page), f'"{name}"')
        await use("click", page, uid=uid)
        assert f'{uid} button "true"' in await snapshot(use, page)


async def test_a_moving_element_is_clicked_once_it_stands_still(use: Use, agent: Agent, site: Site):
    body = f"""{SAYS}<style>@keyframes go {{ from {{ margin-left: 0 }} to {{ margin-left: 400px }} }}
      #b {{ animation: go 300ms linear forwards }}</style><button id=b>Run</button>"""
    page, uid = await open_with_uid(use, agent, site.page("/moving", body), '"Run"')
    await use.run(page, "b.style.animation = 'none'; b.offsetWidth; b.style.animation = ''")

    await use("click", page, uid=uid)

    assert ["click", "b", True, 1] in await said(use, page)
    assert await use.run(page, "b.getAnimations().every(one => one.playState === 'finished')")


@pytest.mark.feature("debugging.click")
async def test_an_element_that_is_enabled_and_uncovered_later_is_waited_for(use: Use, agent: Agent, site: Site):
    body = f"{SAYS}<button id=b disabled>Later</button><div id=cover style='position: fixed; inset: 0'>Loading</div>"
    page, uid = await open_with_uid(use, agent, site.page("/later", body), '"Later"')

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: use("click", page, uid=uid))
        await use.run(page, "setTimeout(() => { b.disabled = false }, 100)")
        await use.run(page, "setTimeout(() => cover.remove(), 200)")

    assert ["click", "b", True, 1] in await said(use, page)


@pytest.mark.feature("debugging.click")
@pytest.mark.parametrize(
    "over",
    ["<div style='position: fixed; inset: 0; pointer-events: none'>Toasts</div>", "<div popover id=p>Hint</div>"],
    ids=["overlay", "popover"],
)
async def test_what_lets_clicks_through_covers_nothing(use: Use, agent: Agent, site: Site, over: str):
    body = f"{SAYS}<button id=b>Under</button>{over}<script>globalThis.p?.showPopover()</script>"
    page, uid = await open_with_uid(use, agent, site.page("/through", body), '"Under"')

    await use("click", page, uid=uid)

    assert ["click", "b", True, 1] in await said(use, page)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<button id=b disabled>No</button>", "it is disabled"),
        ("<fieldset disabled><button id=b>No</button></fieldset>", "it is disabled"),
        ("<button id=b aria-disabled=true>No</button>", "it is disabled"),
        (
            "<button id=b>No</button><div id=top style='position: fixed; inset: 0'>Cookies</div>",
            "<div id=top> “Cookies” (e",
        ),
        (
            "<button id=b>No</button><iframe style='position: fixed; inset: 0; width: 100%; height: 100%'></iframe>",
            "another document covers it",
        ),
        ("<button id=b style='position: absolute; left: -500px'>No</button>", "nothing of it is in view"),
        (
            "<p id=p>Text <button id=b style='pointer-events: none'>No</button>",
            "it takes no clicks there: <p id=p> “Text No” (e",
        ),
    ],
    ids=["disabled", "fieldset", "aria", "covered", "covered-by-iframe", "outside", "through"],
)
async def test_what_cannot_be_clicked_is_said_and_nothing_is(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch, body: str, why: str
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.3)
    page, uid = await open_with_uid(use, agent, site.page("/not", SAYS + body), '"No"')

    error = await refused(use("click", page, uid=uid))

    assert (error.code, error.outcome) == ("not_actionable", "rejected")
    assert why in str(error)
    assert not [one for one in await said(use, page) if one[0] == "click"]


async def test_an_element_that_never_stands_still_is_left_alone_however_seldom_it_is_drawn(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    # Behind others, a page is drawn as any other for a fifth of a second, and then once a second.
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 1)
    body = f"""{SAYS}<style>@keyframes go {{ to {{ margin-left: 300px }} }}
      #b {{ animation: go 1.7s linear infinite }}</style><button id=b>No</button>"""
    page, uid = await open_with_uid(use, agent, site.page("/never", body), '"No"')

    error = await refused(use("click", page, uid=uid))

    assert (error.code, error.outcome) == ("not_actionable", "rejected")
    assert "it does not stand still" in str(error)
    assert not [one for one in await said(use, page) if one[0] == "click"]


@pytest.mark.feature("debugging.click")
async def test_what_the_mouse_itself_moves_is_clicked_where_it_went(use: Use, agent: Agent, site: Site):
    body = f"""{SAYS}<div id=menu onmouseenter="sub.style.display = 'block'" onmouseleave="sub.style.display = 'none'">
      <button>Menu</button><div id=sub style='display: none; height: 60px'></div></div><button id=b>Below</button>
      <p><button id=grows onmouseenter="this.style.marginTop = '80px'">Grows</button>"""
    page = await open_page(agent, site.page("/moves", body))
    text = await snapshot(use, page)

    await use("hover", page, uid=uid_of(text, '"Menu"'))
    assert await use.run(page, "sub.style.display") == "block"
    for name in ("Below", "Grows"):
        assert await use("click", page, uid=uid_of(text, f'"{name}"')) == {"page": page}

    assert [one[1] for one in await said(use, page) if one[0] == "click"] == ["b", "grows"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "<button id=b onmouseenter=\"this.style.marginTop = this.style.marginTop ? '' : '80px'\">No</button>",
            "was left alone once the mouse had come to it",
        ),
        (
            """<div id=tip style='display: none; position: fixed; inset: 0'>Tip</div>
              <button id=b onmouseenter="tip.style.display = 'block'">No</button>""",
            "<div id=tip> “Tip” (e",
        ),
    ],
    ids=["flees", "covered"],
)
async def test_what_the_mouse_drives_away_is_not_clicked(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch, body: str, why: str
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 1)
    page, uid = await open_with_uid(use, agent, site.page("/flees", SAYS + body), '"No"')

    error = await refused(use("click", page, uid=uid))

    assert (error.code, error.outcome) == ("not_actionable", "unknown")
    assert why in str(error)
    assert not [one for one in await said(use, page) if one[0] == "mousedown"]


@pytest.mark.parametrize("zoom", [False, True], ids=["as-is", "zoomed"])
async def test_a_page_that_overflows_a_phone_is_clicked_below_the_fold(use: Use, agent: Agent, site: Site, zoom: bool):
    body = f"""<meta name=viewport content='width=device-width, initial-scale={2 if zoom else 1}'>{SAYS}
      <div style='width: 1600px; height: 10px'></div><div style='height: 1800px'>Gap</div>
      <button id=b style='margin-left: 300px'>Below</button>
      <div style='height: 900px'></div><button id=c style='margin-left: 1400px'>Far</button>"""
    page = await open_page(agent, site.page("/overflows", "<p>"))
    await use("emulate", page, viewport={"width": 390, "height": 844, "density": 2, "mobile": True, "touch": True})
    await agent.navigate_page(page, site.page("/overflows", body), None)
    text = await snapshot(use, page)

    for name in ("Below", "Far"):
        assert await use("click", page, uid=uid_of(text, f'"{name}"')) == {"page": page}

    assert [one[1] for one in await said(use, page) if one[0] == "click"] == ["b", "c"]


async def test_what_covers_an_iframe_covers_what_is_in_it(use: Use, agent: Agent, site: Site, monkeypatch):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.3)
    inner = site.elsewhere().page("/in", "<button>In</button>")
    body = f"<iframe src={inner}></iframe><div style='position: fixed; inset: 0'>Top</div>"
    page, uid = await open_with_uid(use, agent, site.page("/over", body), '"In"')

    assert "something covers its iframe" in str(await refused(use("click", page, uid=uid)))


async def test_a_hidden_checkbox_is_clicked_through_its_label(use: Use, agent: Agent, site: Site):
    body = """<label style='position: relative; display: inline-block'>
      <input type=checkbox style='position: absolute; opacity: 0'>
      <span style='position: absolute; inset: 0; background: tan'></span>Agree</label>"""
    page, uid = await open_with_uid(use, agent, site.page("/label", body), "checkbox")

    await use("click", page, uid=uid)

    assert await use.run(page, "document.querySelector('input').checked")


HIDDEN = "position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip: rect(0, 0, 0, 0)"
"""As CSS frameworks hide what only screen readers are to find."""


@pytest.mark.feature("debugging.click")
@pytest.mark.parametrize(
    "field",
    [
        f"<label><input type=checkbox style='{HIDDEN}'>Agree</label>",
        f"<input type=radio id=i style='{HIDDEN}'><p><label for=i>Agree</label>",
        "<label><input type=radio style='appearance: none; width: 0; height: 0; margin: 0'>Agree</label>",
        """<label style='position: relative; display: inline-block; width: 40px; height: 20px'>
          <input type=checkbox style='opacity: 0; width: 0; height: 0'>
          <span style='position: absolute; inset: 0; background: tan'></span></label>""",
        f"<label><input type=checkbox style='{HIDDEN}'>I agree to the <a href=/>terms</a> of it</label>",
    ],
    ids=["clipped", "beside", "no-size", "switch", "link"],
)
async def test_a_checkbox_that_is_visually_hidden_is_clicked_and_filled_through_its_label(
    use: Use, agent: Agent, site: Site, field: str
):
    body = f"{SAYS}<div style='height: 2000px'></div>{field}"
    page, uid = await open_with_uid(use, agent, site.page("/hidden", body), "checkbox" if "check" in field else "radio")
    checked = "document.querySelector('input').checked"

    assert await use("click", page, uid=uid) == {"page": page}
    assert await use.run(page, checked)
    await use.run(page, f"void ({checked} = false)")
    assert await use("fill", page, uid=uid, value="true") == {"page": page}
    assert await use.run(page, checked)


async def test_a_link_in_a_label_is_not_clicked_for_its_checkbox(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.3)
    body = f"{SAYS}<label><input type=checkbox style='{HIDDEN}'><a href=/>Terms</a></label>"
    page, uid = await open_with_uid(use, agent, site.page("/terms", body), "checkbox")

    error = await refused(use("click", page, uid=uid))

    assert (error.code, error.outcome) == ("not_actionable", "rejected")
    assert not [one for one in await said(use, page) if one[0] == "click"]


@pytest.mark.feature("debugging.click")
@pytest.mark.parametrize("tool", ["click", "hover"])
async def test_what_is_never_shown_by_itself_is_said_at_once(use: Use, agent: Agent, site: Site, tool: str):
    body = """<select><option>One<option>Two</select>
      <img usemap=#m alt=Map src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'/>">
      <map name=m><area href=#there shape=rect coords=0,0,20,20 alt=There></map>
      <select multiple aria-label=Open><option>Shown</select>"""
    page = await open_page(agent, site.page("/parts", body))
    text = await snapshot(use, page)

    with trio.fail_after(limits.ELEMENT_SECONDS / 2):
        option = await refused(use(tool, page, uid=uid_of(text, '"Two"')))
        area = await refused(use(tool, page, uid=uid_of(text, 'link "There"')))

    assert "it is an option of a closed list: use select_option" in str(option)
    assert "it is an area of a picture: use press_key with Enter" in str(area)
    await use("press_key", page, uid=uid_of(text, 'link "There"'), key="Enter")
    assert await use.run(page, "location.hash") == "#there"
    assert await use(tool, page, uid=uid_of(text, '"Shown"')) == {"page": page}


@pytest.mark.parametrize("how", ["detached", "other document", "never there"])
async def test_an_element_that_is_gone_gets_nothing(use: Use, agent: Agent, site: Site, how: str):
    page, uid = await open_with_uid(use, agent, site.page("/gone", f"{SAYS}<button id=b>Gone</button>"), '"Gone"')
    match how:
        case "detached":
            await use.run(page, "void (window.kept = b, b.remove())")
        case "other document":
            await agent.navigate_page(page, None, "reload")
        case _:
            uid = uid.replace("-", "9-")

    error = await refused(use("click", page, uid=uid))

    assert error.code == "element_gone"
    assert ("taken out" in str(error)) == (how == "detached")
    assert await said(use, page) == []


@pytest.mark.feature("debugging.click")
@pytest.mark.threat("P14")
async def test_a_click_never_reaches_the_document_that_took_the_place_of_its_own(use: Use, agent: Agent, site: Site):
    clicked = "<script>addEventListener('click', () => { document.title = 'clicked' }, true)</script>"
    button = f"{clicked}<button style='position: fixed; inset: 0'>Pay</button>"
    page, uid = await open_with_uid(use, agent, site.page("/mine", button), '"Pay"')
    there = use.access.find(page)
    async with open_element(there, uid) as element:
        point = await find_point(element)
        await agent.navigate_page(page, site.page("/theirs", button), None)

        with pytest.raises(ElementGone):
            await hover(element, point)
        with pytest.raises(ElementGone):
            await _press_at(element, point, button="left", times=1, modifiers=0)

    assert await use.run(page, "document.title") == "/theirs"


@pytest.mark.threat("P14")
async def test_a_click_at_any_moment_of_a_reload_is_one_click_or_none(use: Use, agent: Agent, site: Site):
    """Each reload comes at another moment of the click; the button is at the same place each time."""
    clicked = "<script>addEventListener('click', () => sessionStorage.n = 1 + +(sessionStorage.n ?? 0), true)</script>"
    url = site.page("/swap", f"{clicked}<button style='position: fixed; inset: 0'>Pay</button>")
    page, _ = await open_with_uid(use, agent, url, '"Pay"')
    done = 0
    for milliseconds in range(0, 60, 6):
        uid = uid_of(await snapshot(use, page), '"Pay"')
        await use.run(page, f"void setTimeout(() => location.reload(), {milliseconds})")
        try:
            await use("click", page, uid=uid)
        except Exception as error:  # any of ours
            assert getattr(error, "code", "") in ("element_gone", "not_actionable", "page_gone")  # noqa: PT017  # some clicks do come in time
        else:
            done += 1
        await use.access.find(page).wait_loaded()

    assert int(await use.run(page, "+(sessionStorage.n ?? 0)")) <= done


async def test_snapshots_meanwhile_take_nothing_from_a_click(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(use, agent, site.page("/both", f"{SAYS}<button id=b disabled>B</button>"), '"B"')

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: use("click", page, uid=uid))
        for _ in range(5):
            await snapshot(use, page)
        await use.run(page, "b.disabled = false")

    assert ["click", "b", True, 1] in await said(use, page)


@pytest.mark.threat("P12")
async def test_a_click_whose_listener_never_ends_can_be_left(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(
        use, agent, site.page("/loops", "<button onclick='for (;;);'>Loop</button>"), '"Loop"'
    )

    with trio.move_on_after(1) as scope:
        await use("click", page, uid=uid)

    assert scope.cancelled_caught
    assert use.access.find(page).acts == 0


# What it starts


@pytest.mark.feature("debugging.effects")
async def test_a_navigation_is_waited_for_and_told(use: Use, agent: Agent, site: Site):
    there = site.page("/there", "<h1>There</h1>")
    body = f"<a href={there}>Go</a><a href=#part>Part</a><button onclick='location.reload()'>Again</button>"
    here = site.page("/here", body)
    page, link = await open_with_uid(use, agent, here, '"Part"')

    part = await use("click", page, uid=link)
    again = await use("click", page, uid=uid_of(await snapshot(use, page), '"Again"'))
    away = await use("click", page, uid=uid_of(await snapshot(use, page), '"Go"'))

    assert part["navigated"] == {"from": here, "to": f"{here}#part", "kind": "same-document"}
    assert again["navigated"] == {"from": f"{here}#part", "to": f"{here}#part", "kind": "reload"}
    assert away["navigated"] == {"from": f"{here}#part", "to": there, "kind": "document"}
    assert 'heading "There"' in await snapshot(use, page)


@pytest.mark.feature("debugging.effects")
async def test_requests_that_a_click_starts_are_waited_for(use: Use, agent: Agent, site: Site):
    site.page("/data", "data")
    gate = site.gates["/data"] = threading.Event()
    body = "<button onclick=\"fetch('/data').then(r => r.text()).then(() => this.textContent = 'Got')\">Get</button>"
    page, uid = await open_with_uid(use, agent, site.page("/fetches", body), '"Get"')

    async with trio.open_nursery() as nursery:

        async def open_gate() -> None:
            await site.wait_asked("/data", 1)
            gate.set()

        nursery.start_soon(open_gate)
        assert await use("click", page, uid=uid) == {"page": page}

    assert 'button "Got"' in await snapshot(use, page)


@pytest.mark.feature("debugging.effects")
async def test_what_does_not_end_in_time_is_told(use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bridge.limits.SETTLE_SECONDS", 0.4)
    site.page("/never", "")
    gate = site.gates["/never"] = threading.Event()
    body = "<button onclick=\"fetch('/never'); fetch('/never?2')\">Get</button>"
    page, uid = await open_with_uid(use, agent, site.page("/slow", body), '"Get"')
    try:
        assert (await use("click", page, uid=uid))["pending"] == ["2 requests without an answer"]
    finally:
        gate.set()


@pytest.mark.feature("debugging.effects")
async def test_a_click_that_opens_a_dialog_ends_with_it(use: Use, agent: Agent, site: Site):
    body = "<button onclick=\"this.textContent = confirm('Sure?')\">Ask</button>"
    page, uid = await open_with_uid(use, agent, site.page("/dialog", body), '"Ask"')

    answer = await use("click", page, uid=uid)

    assert answer["dialog"]["message"] == "Sure?"
    assert (await refused(use("click", page, uid=uid))).code == "dialog_open"
    await agent.handle_dialog(page, True, None)
    assert 'button "true"' in await snapshot(use, page)


@pytest.mark.parametrize(
    "page_settings", [PageSettings(inspected=INSPECTED.inspected, dialogs="accept")], ids=["accept"]
)
async def test_an_answered_dialog_of_a_click_is_of_its_making(use: Use, agent: Agent, site: Site):
    body = "<button onclick=\"this.textContent = confirm('Sure?')\">Ask</button>"
    page, uid = await open_with_uid(use, agent, site.page("/dialog", body), '"Ask"')

    await use("click", page, uid=uid)

    assert 'button "true"' in await snapshot(use, page)
    assert [one["answer"] for one in use.access.find(page).take_answered_dialogs()] == ["accepted"]


@pytest.mark.feature("debugging.effects")
async def test_a_page_that_a_click_opens_or_closes_is_told(use: Use, agent: Agent, site: Site):
    other = site.page("/other", "<button onclick='window.close()'>Close</button>")
    body = f"<button onclick=\"window.open('{other}')\">Open</button>"
    page, uid = await open_with_uid(use, agent, site.page("/opens", body), '"Open"')

    answer = await use("click", page, uid=uid)

    [popup] = answer["opened"]
    await use.access.find(popup).wait_loaded()
    close = uid_of(await snapshot(use, popup), '"Close"')
    assert (await use("click", popup, uid=close))["closed"] is True


# Mouse without a button, keys, drags


@pytest.mark.feature("debugging.click")
async def test_pointing_opens_what_opens_by_it(use: Use, agent: Agent, site: Site):
    style = "<style>ul { display: none } nav:hover ul { display: block }</style>"
    body = f"{style}<nav aria-label=Menu>Menu<ul><li>Item</ul></nav>"
    page, uid = await open_with_uid(use, agent, site.page("/hover", body), "navigation")

    await use("hover", page, uid=uid)

    assert "Item" in await snapshot(use, page)


@pytest.mark.feature("debugging.keys")
async def test_keys_and_combinations_are_those_of_a_keyboard(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(use, agent, site.page("/keys", f"{SAYS}<textarea id=t>old</textarea>"), "textbox")

    await use("press_key", page, uid=uid, key="Control+A")
    for key in ("a", "Shift+b", "Space", "+", "é", "Enter", "ArrowLeft"):
        await use("press_key", page, key=key)
    await use("press_key", page, key="Backspace", times=2)

    assert await use.run(page, "t.value") == "aB \n"
    pressed = [key for kind, _, real, key in await said(use, page) if kind == "keydown" and real]
    assert pressed[:6] == ["Control", "a", "a", "Shift", "B", " "]


@pytest.mark.feature("debugging.keys")
async def test_shift_makes_of_a_key_what_it_does_on_a_keyboard(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(use, agent, site.page("/shift", f"{SAYS}<input id=i>"), "textbox")

    for key in ("Shift+/", "Shift+1", "Shift+?", "Shift+a"):
        await use("press_key", page, uid=uid, key=key)

    assert await use.run(page, "i.value") == "?!?A"
    assert [key for kind, _, _, key in await said(use, page) if kind == "keydown" and key != "Shift"] == [*"?!?A"]


@pytest.mark.feature("debugging.keys")
async def test_enter_submits_a_form_and_tells_where_that_leads(use: Use, agent: Agent, site: Site):
    site.page("/found", "<p>Found")
    page, uid = await open_with_uid(
        use, agent, site.page("/search", "<form action=/found><input name=q></form>"), "textbox"
    )
    await use("fill", page, uid=uid, value="tea & cake")

    answer = await use("press_key", page, key="Enter")

    assert answer["navigated"]["to"] == f"{site.origin}/found?q=tea+%26+cake"


async def test_a_key_that_there_is_none_is_said(use: Use, agent: Agent, site: Site):
    page = await open_page(agent, site.page("/keys", ""))

    for key in ("Enterr", "Hyper+A", "ab"):
        error = await refused(use("press_key", page, key=key))
        assert error.code == "usage"
        assert "is no key" in str(error)


@pytest.mark.feature("debugging.click")
@pytest.mark.parametrize("kind", ["data", "mouse"])
async def test_a_drag_takes_an_element_to_another(use: Use, agent: Agent, site: Site, kind: str):
    column = "<div id=z role=button aria-label=Column style='height: 80px'></div>"
    data = """<div id=a role=button draggable=true>Card</div><script>
      a.ondragstart = event => event.dataTransfer.setData('text/plain', 'card');
      z.ondragover = event => event.preventDefault();
      z.ondrop = event => { z.ariaLabel = event.isTrusted + event.dataTransfer.getData('text/plain') };
    </script>"""
    mouse = """<div id=a role=button>Card</div><script>
      let held = false;
      a.onmousedown = () => { held = true };
      z.onmouseup = event => { if (held) z.ariaLabel = event.isTrusted + 'card' };
    </script>"""
    page = await open_page(agent, site.page("/drag", column + (data if kind == "data" else mouse)))
    text = await snapshot(use, page)

    await use("drag", page, **{"from": uid_of(text, "Card"), "to": uid_of(text, "Column")})

    assert 'button "truecard"' in await snapshot(use, page)


async def test_a_list_that_is_sorted_as_an_item_is_dragged_over_it_gets_the_drop(use: Use, agent: Agent, site: Site):
    body = f"""{SAYS}<ul id=list>{"".join(f"<li draggable=true id=i{n}>Item {n}" for n in range(4))}</ul><script>
      let held;
      list.ondragstart = event => {{ held = event.target; event.dataTransfer.setData('text/plain', held.id) }};
      for (const item of list.children)
        item.ondragover = event => {{
          event.preventDefault();
          if (held !== item) list.insertBefore(held, item.nextSibling);
        }};
      list.ondrop = event => {{ event.preventDefault(); list.title = event.dataTransfer.getData('text/plain') }};
    </script>"""
    page = await open_page(agent, site.page("/sorted", body))
    items = re.findall(r"(e\S+) listitem", await snapshot(use, page))

    await use("drag", page, **{"from": items[0], "to": items[2]})

    assert await use.run(page, "list.title + [...list.children].map(one => one.id)") == "i0i1,i2,i0,i3"


# Fields


@pytest.mark.feature("debugging.fill")
async def test_fields_of_all_kinds_hold_what_they_are_filled_with(use: Use, agent: Agent, site: Site):
    kinds = {
        "text": ("old", "new é 😀"),
        "password": ("old", "pässword"),
        "email": ("", "a@b.example"),
        "number": ("1", "42"),
        "date": ("", "2026-11-30"),
        "time": ("", "12:30"),
        "datetime-local": ("", "2026-11-30T12:30"),
        "month": ("", "2026-11"),
        "week": ("", "2026-W48"),
        "color": ("", "#ff0000"),
        "range": ("1", "75"),
    }
    free = "<div contenteditable role=textbox aria-label=free>old <b>text</b></div>"
    fields = "".join(
        f"<input type={kind} value='{old}' aria-label=F{n}>" for n, (kind, (old, _)) in enumerate(kinds.items())
    )
    body = f"{SAYS}{fields}<textarea aria-label=area>old</textarea>{free}"
    page = await open_page(agent, site.page("/fields", body))
    text = await snapshot(use, page)
    wanted = {f'"F{n}"': new for n, (_, new) in enumerate(kinds.values())} | {
        '"area"': "two\nlines",
        '"free"': "now this",
    }

    answer = await use(
        "fill_form", page, fields=[{"uid": uid_of(text, part), "value": new} for part, new in wanted.items()]
    )

    assert answer == {"page": page, "filled": len(wanted)}
    held = await use.run(
        page, "JSON.stringify([...document.querySelectorAll('input, textarea')].map(one => one.value))"
    )
    assert json.loads(held) == [*(new for _, new in kinds.values()), "two\nlines"]
    assert await use.run(page, "document.querySelector('div').innerText") == "now this"
    assert ["input", "", True, 0] in await said(use, page)


@pytest.mark.feature("debugging.fill")
async def test_a_picker_takes_the_same_values_whatever_it_held(use: Use, agent: Agent, site: Site):
    body = """<input type=range aria-label=Range step=5><input type=color aria-label=Color>
      <input type=datetime-local aria-label=Time>"""
    page = await open_page(agent, site.page("/pickers", body))
    text = await snapshot(use, page)
    for name, value, held in (
        ("Range", "33", "35"),
        ("Range", "600", "100"),
        ("Color", "#FF0000", "#ff0000"),
        ("Time", "2026-11-30 12:30", "2026-11-30T12:30"),
    ):
        for _ in range(2):
            assert (await use("fill", page, uid=uid_of(text, f'"{name}"'), value=value))["value"] == held
    for name, value in (("Range", "much"), ("Color", "reddish")):
        error = await refused(use("fill", page, uid=uid_of(text, f'"{name}"'), value=value))
        assert f"does not take the value '{value}'" in str(error)
    held = await use.run(page, "JSON.stringify([...document.querySelectorAll('input')].map(one => one.value))")
    assert json.loads(held) == ["100", "#ff0000", "2026-11-30T12:30"]


async def test_lines_of_an_editable_element_are_what_it_holds(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(
        use, agent, site.page("/lines", "<div contenteditable role=textbox>old</div>"), "textbox"
    )

    assert await use("fill", page, uid=uid, value="one\ntwo\n\n  three") == {"page": page}
    assert await use.run(page, "document.querySelector('div').innerText.split('\\n')[1]") == "two"


async def test_a_field_is_emptied_too(use: Use, agent: Agent, site: Site):
    page, uid = await open_with_uid(use, agent, site.page("/empty", "<input id=i value=something>"), "textbox")

    assert await use("fill", page, uid=uid, value="") == {"page": page}

    assert await use.run(page, "i.value") == ""


@pytest.mark.feature("debugging.fill")
async def test_what_a_page_makes_of_a_value_is_told_unless_it_is_a_secret(use: Use, agent: Agent, site: Site):
    body = """<input aria-label=Short maxlength=3><input type=password aria-label=Code maxlength=3>
      <label>Verification <b>code</b> <input maxlength=3></label>"""
    page = await open_page(agent, site.page("/short", body))
    text = await snapshot(use, page)

    assert (await use("fill", page, uid=uid_of(text, "Short"), value="abcdef"))["value"] == "abc"
    assert (await use("fill", page, uid=uid_of(text, '"Code'), value="abcdef"))["value"] == "(masked)"
    assert (await use("fill", page, uid=uid_of(text, 'textbox "Verif'), value="abcdef"))["value"] == "(masked)"


@pytest.mark.feature("debugging.fill")
async def test_checkboxes_radio_buttons_and_lists_are_filled(use: Use, agent: Agent, site: Site):
    body = f"""{SAYS}<input type=checkbox aria-label=Check id=c><input type=radio name=r aria-label=One checked>
      <input type=radio name=r aria-label=Two id=two>
      <select aria-label=Size id=s><option value=s>Small<option value=l>Large</select>"""
    page = await open_page(agent, site.page("/checks", body))
    text = await snapshot(use, page)

    for part, value in (("Check", "true"), ("Two", "true"), ("Size", "Large")):
        await use("fill", page, uid=uid_of(text, f'"{part}"'), value=value)
    assert await use.run(page, "[c.checked, two.checked, s.value].join()") == "true,true,l"
    await use("fill", page, uid=uid_of(text, '"Check"'), value="false")
    assert await use.run(page, "c.checked") is False


@pytest.mark.feature("debugging.fill")
async def test_options_are_chosen_by_value_or_label_and_no_others(use: Use, agent: Agent, site: Site):
    body = f"""{SAYS}<select id=one aria-label=One><option value=1>A<option value=2>B<option disabled>C</select>
      <select id=many aria-label=Many multiple><option selected>X<option>Y<option>Z</select>"""
    page = await open_page(agent, site.page("/options", body))
    text = await snapshot(use, page)
    one, many = (uid_of(text, f' "{name}"') for name in ("One", "Many"))

    assert (await use("select_option", page, uid=one, options=["2"]))["chosen"] == ["B"]
    assert (await use("select_option", page, uid=many, options=["Z", "Y"]))["chosen"] == ["Z", "Y"]
    assert await use.run(page, "[...many.selectedOptions].map(o => o.label).join()") == "Y,Z"
    assert [kind for kind, *_ in await said(use, page)].count("change") == 2
    for options, why in (
        (["D"], 'it has no option "D"; it begins with "A", "B", "C"'),
        (["C"], 'its option "C" is disabled'),
        (["A", "B"], "only one"),
    ):
        assert why in str(await refused(use("select_option", page, uid=one, options=options)))
    assert await use.run(page, "one.value") == "2"


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("<input aria-label=F readonly value=x>", "y", "it can only be read"),
        ("<input aria-label=F disabled value=x>", "y", "it is disabled"),
        ("<input aria-label=F type=date>", "tomorrow", "does not take the value 'tomorrow'"),
        ("<input aria-label=F type=checkbox>", "yes", 'its value is "true" or "false"'),
        ("<input aria-label=F type=file>", "x", "use upload_file"),
        ("<input aria-label=F type=submit>", "x", "use click"),
        ("<a href=/ aria-label=F>x</a>", "x", "it is no field"),
        ("<svg><a href=/ aria-label=F><text>x</text></a></svg>", "x", "it is no field"),
    ],
)
async def test_what_cannot_be_filled_is_said(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch, field: str, value: str, why: str
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.2)
    page, uid = await open_with_uid(use, agent, site.page("/unfit", field), '"F"')

    error = await refused(use("fill", page, uid=uid, value=value))

    assert error.code == "not_actionable"
    assert why in str(error)


@pytest.mark.feature("debugging.fill")
async def test_a_form_with_a_field_that_is_gone_is_left_alone_and_half_a_form_is_told(
    use: Use, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.2)
    body = "<input id=a aria-label=A><input id=b aria-label=B disabled>"
    page = await open_page(agent, site.page("/half", body))
    text = await snapshot(use, page)
    first, second = ({"uid": uid_of(text, f'"{name}"'), "value": "x"} for name in "AB")

    gone = await refused(use("fill_form", page, fields=[first, {"uid": "e99-1", "value": "x"}]))
    assert gone.code == "element_gone"
    assert await use.run(page, "a.value") == ""
    half = await refused(use("fill_form", page, fields=[first, second]))
    assert (half.code, half.outcome) == ("partly_filled", "failed")
    assert "1 of 2 fields" in str(half)


async def test_a_field_in_an_iframe_of_another_site_is_filled_and_typed_into(use: Use, agent: Agent, site: Site):
    field = "<input aria-label=There oninput='this.title = event.isTrusted'>"
    inner = site.elsewhere().page("/typed", field)
    page, uid = await open_with_uid(use, agent, site.page("/types", f"<input><iframe src={inner}></iframe>"), '"There"')

    await use("fill", page, uid=uid, value="abc")
    for key in ("d", "Enter", "Shift+E"):
        await use("press_key", page, key=key)

    assert f'{uid} textbox "There" value="abcdE" focused description="true"' in await snapshot(use, page)


# Files


@pytest.mark.feature("debugging.upload")
@pytest.mark.threat("C8")
async def test_files_of_the_folders_that_are_allowed_are_uploaded_and_no_others(
    use: Use, agent: Agent, site: Site, tmp_path: Path
):
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "one.txt").write_text("1")
    (tmp_path / "other.txt").write_text("2")
    (allowed / "link.txt").symlink_to(tmp_path / "other.txt")
    use.access.folders = Folders((str(allowed),))
    body = """<input type=file aria-label=Plain id=plain><input aria-label=Choose readonly onclick='hidden_.click()'>
      <input type=file id=hidden_ hidden multiple>"""
    page = await open_page(agent, site.page("/upload", body))
    text = await snapshot(use, page)
    plain, choose = uid_of(text, '"Plain'), uid_of(text, '"Choose"')

    await use("upload_file", page, uid=plain, files=[str(allowed / "one.txt")])
    await use("upload_file", page, uid=choose, files=[str(allowed / "one.txt")] * 2)
    assert await use.run(page, "[plain.files[0].name, hidden_.files.length].join()") == "one.txt,2"
    for path in (tmp_path / "other.txt", allowed / "link.txt", allowed / "../other.txt", allowed):
        error = await refused(use("upload_file", page, uid=plain, files=[str(path)]))
        assert error.code == "not_allowed"
    assert await use.run(page, "plain.files[0].name") == "one.txt"


@pytest.mark.feature("debugging.upload")
@pytest.mark.parametrize(
    ("field", "count", "why"),
    [
        ("<input type=file aria-label=F id=f>", 2, "was left alone: it takes one file, and there are 2"),
        ("<input type=file aria-label=F id=f webkitdirectory>", 1, "was left alone: it takes a folder"),
        ("<input type=file aria-label=F id=f disabled>", 1, "was left alone: it is disabled"),
        (
            "<button onclick='f.click()'>F</button><input type=file id=f hidden>",
            2,
            "was clicked: the input that this has opened takes one file, and there are 2",
        ),
        (
            "<button onclick='f.click()'>F</button><input type=file id=f hidden webkitdirectory>",
            1,
            "was clicked: the input that this has opened takes a folder",
        ),
    ],
    ids=["one", "folder", "disabled", "opened-one", "opened-folder"],
)
async def test_an_input_gets_no_files_that_it_does_not_take(
    use: Use,
    agent: Agent,
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    field: str,
    count: int,
    why: str,
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.5)
    files = [tmp_path / f"{number}.txt" for number in range(count)]
    for file in files:
        file.write_text("1")
    use.access.folders = Folders((str(tmp_path),))
    page, uid = await open_with_uid(use, agent, site.page("/takes-not", field), '"F')

    error = await refused(use("upload_file", page, uid=uid, files=[str(file) for file in files]))

    assert error.code == "not_actionable"
    assert why in str(error)
    assert await use.run(page, "f.files.length") == 0


async def test_what_opens_no_file_chooser_takes_no_files(
    use: Use, agent: Agent, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bridge.limits.ELEMENT_SECONDS", 0.3)
    (tmp_path / "one.txt").write_text("1")
    use.access.folders = Folders((str(tmp_path),))
    page, uid = await open_with_uid(use, agent, site.page("/nothing", "<button>Nothing</button>"), '"Nothing"')

    error = await refused(use("upload_file", page, uid=uid, files=[str(tmp_path / "one.txt")]))

    assert "was clicked: it is no input for files, and this has opened none" in str(error)


async def test_a_page_that_closes_while_its_element_is_waited_for_was_not_acted_on(use: Use, agent: Agent, site: Site):
    body = "<button id=b disabled>Wait</button>"
    page, uid = await open_with_uid(use, agent, site.page("/closing", body), '"Wait"')
    ended: list[BridgeError] = []

    async def click_there() -> None:
        ended.append(await refused(use("click", page, uid=uid)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(click_there)
        await wait_until(use.access.find(page), "true")
        await agent.close_page(page)

    assert [(error.code, error.dispatched) for error in ended] == [("page_gone", False)]


async def test_a_dialog_that_comes_while_an_element_is_waited_for_is_none_of_a_click(
    use: Use, agent: Agent, site: Site
):
    body = "<button id=b disabled>Wait</button>"
    page, uid = await open_with_uid(use, agent, site.page("/dialog-first", body), '"Wait"')
    await use.run(page, "void setTimeout(() => confirm('First?'), 100)")

    error = await refused(use("click", page, uid=uid))

    assert (error.code, error.dispatched) == ("dialog_open", False)
    await agent.handle_dialog(page, True, None)


async def test_a_field_that_leads_elsewhere_as_it_is_filled_was_filled(use: Use, agent: Agent, site: Site):
    there = site.page("/as-it-is-filled", "<p>There")
    field = f"<input oninput=\"location = '{there}'\">"
    page, uid = await open_with_uid(use, agent, site.page("/leads", field), "textbox")

    assert (await use("fill", page, uid=uid, value="x"))["navigated"]["to"] == there
