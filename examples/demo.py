"""What an agent reads of the example shop, from its own side: the official MCP client over stdio.

Starts the shop on a free loopback port and `pagebridge serve` as a subprocess, lists the tools of the page, calls
each of them, checks what came, and ends everything that it started. Run it with `make demo`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import trio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

sys.path.insert(0, str(Path(__file__).parent / "shop"))

from server import serve_shop

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("add", {"a": 10200, "b": 2400}, "12600"),
    ("getCacheStatistics", {}, '"bypasses":1'),
    ("getFeatureFlags", {}, '"taxEngineV2":{"enabled":true'),
    ("getGlobalState", {"path": "quote"}, '"taxCents":2400'),
    ("queryDatabaseTable", {"tableName": "orders", "limit": 2}, '"discount_cents":1035'),
]
"""Each tool of the page with arguments, and a part of the one right result."""


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def show(title: str, text: str) -> None:
    print(f"\n── {title}")
    print(text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)")


async def main() -> int:
    with trio.fail_after(120), serve_shop() as shop:
        print(f"The shop is at {shop}")
        bridge = StdioServerParameters(command=sys.executable, args=["-m", "bridge", "serve", "--open", shop])
        async with Client(stdio_client(bridge)) as agent:
            show("The bridge's own tools", ", ".join(tool.name for tool in (await agent.list_tools()).tools))

            pages = await agent.call_tool("list_pages", {})
            show("list_pages", text_of(pages))
            page = json.loads(text_of(pages))["pages"][0]["page"]

            listing = await agent.call_tool("list_page_tools", {"page": page})
            show(f"list_page_tools(page={page!r})", text_of(listing))
            offered = [
                tool["name"] for group in json.loads(text_of(listing))["pages"][0]["groups"] for tool in group["tools"]
            ]
            print(f"{len(offered)} tools: {', '.join(offered)}")

            right = 0
            for tool, arguments, expected in CALLS:
                result = await agent.call_tool("call_page_tool", {"page": page, "tool": tool, "arguments": arguments})
                text = text_of(result)
                show(f"call_page_tool(page={page!r}, tool={tool!r}, arguments={json.dumps(arguments)})", text)
                is_right = not result.is_error and expected in text
                right += is_right
                print("   right" if is_right else f"   WRONG: expected {expected} in it")

    print(f"\n{right} of {len(CALLS)} results are right.")
    return 0 if right == len(CALLS) == len(offered) else 1


if __name__ == "__main__":
    sys.exit(trio.run(main))
