"""What is hidden, held against what Chromium itself knows of each character."""

import json
import sys

from bridge.calls.agent import Agent
from bridge.calls.bridge import Bridge
from bridge.calls.frame import escape
from tests.browser.asking import open_page, page_of, run_script

CODES = "[...Array(0x110000).keys()].filter(code => {}.test(String.fromCodePoint(code)))"
HIDDEN = r"/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u"

READABLE = {*map(ord, "\n\t")}
NO_CHARACTERS = {0xFFFE, 0xFFFF}
"""Some readers take a text with them for none."""


async def test_escaped_are_exactly_the_characters_that_chromium_knows_to_be_unseen(agent: Agent, bridge: Bridge):
    page = await page_of(bridge, await open_page(agent, "about:blank"))
    hidden = set(json.loads(await run_script(page, f"JSON.stringify({CODES.format(HIDDEN)})")))

    escaped = {code for code in range(sys.maxunicode + 1) if escape(chr(code)) != chr(code)}

    assert escaped == hidden - READABLE | NO_CHARACTERS | {*map(ord, "<>")}
