"""What is hidden, held against what Chromium itself knows of each character."""

import sys
from typing import cast

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.frame import escape
from bridge.page.pages import Page
from tests.browser.asking import open_page, page_of, run_script

CODES = "[...Array(0x110000).keys()].filter(code => {}.test(String.fromCodePoint(code)))"
HIDDEN = r"/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u"

READABLE = {*map(ord, "\n\t")}
NO_CHARACTERS = {0xFFFE, 0xFFFF}
"""Some readers take a text with them for none."""


async def codes_of(page: Page, pattern: str) -> list[int]:
    return cast("list[int]", await run_script(page, CODES.format(pattern)))


async def test_escaped_are_exactly_the_characters_that_chromium_knows_to_be_unseen(agent: Agent, bridge: Bridge):
    page = await page_of(bridge, await open_page(agent, "about:blank"))
    hidden = set(await codes_of(page, HIDDEN))

    for before in ("", "é"):
        escaped = {code for code in range(sys.maxunicode + 1) if escape(before + chr(code)) != before + chr(code)}
        assert escaped == hidden - READABLE | NO_CHARACTERS | {*map(ord, "<>")}


async def test_no_emoji_of_chromium_is_shown_as_an_escape(agent: Agent, bridge: Bridge):
    page = await page_of(bridge, await open_page(agent, "about:blank"))
    emoji = [chr(code) for code in await codes_of(page, r"/\p{Emoji}/u")]

    assert len(emoji) > 1000
    assert [char for char in emoji if escape(f"{char}\ufe0f") != f"{char}\ufe0f"] == []
