"""Run a tool of a skill: what is sent, and what becomes of the answer.

The tool has no code of its own, so this is all that one can do: ask its one service, and, for a job, keep one file.
"""

import json
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlencode

from bridge import limits
from bridge.errors import ArgumentsInvalid, NotAllowed
from bridge.tools.faults import plain
from bridge.tools.skills.downloads import check_folder
from bridge.tools.skills.exchange import Answer, Server, ask
from bridge.tools.skills.job import FILE_NAME, Kept, Order, run_job
from bridge.tools.skills.parameters import PAGE
from bridge.tools.skills.skill import AnswerLimits, SkillTool
from bridge.tools.skills.urls import Url, read_url

Arguments = Mapping[str, Any]


class Servers(Protocol):
    """`bridge.tools.skills.network.Network`, which is imported when a tool of a skill runs first."""

    def open_server(self, origin: str) -> AbstractAsyncContextManager[Server]: ...


class Pages(Protocol):
    async def address(self, page: str) -> str:
        """The address of an open page.

        Raises:
            PageNotFound: there is no such page.
        """
        ...


class Context(Protocol):
    """What is used of the context that every tool gets."""

    @property
    def page(self) -> Pages: ...
    @property
    def logger(self) -> logging.Logger: ...
    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How far tools of skills reach.

    Attributes:
        servers: the network.
        downloads: where files are kept; None where no folder is declared.
    """

    servers: Servers
    downloads: Path | None = None


async def run_skill_tool(tool: SkillTool, arguments: Arguments, context: Context, reach: Reach) -> dict[str, Any]:
    """Run it, and say what came: `success`, `status`, `provider`, `skillTool`, `skillName`, `data`.

    A service that refuses is a result with `success: false`. All but the first three fields and the names are the
    service's words.

    Args:
        arguments: such as fit `tool.parameters`.

    Raises:
        ArgumentsInvalid: an address is missing, or none.
        NotAllowed: an address, or the service, is none that may be used; or no folder for files is declared.
        PageNotFound: as `Pages.address`.
        EndpointUnreachable: nothing was sent.
        AnswerLost: it was asked, and there is no answer.
        EndpointFailed: there is one, which is of no use.
    """
    folder = check_folder(reach.downloads) if tool.job is not None else None
    payload = await fill_payload(tool, arguments, context)
    target, content = make_request(tool, payload)
    async with reach.servers.open_server(tool.endpoint.origin) as server:
        if tool.job is None or folder is None:
            return _told(tool, await ask(server, tool.method, target, content=content))
        order = Order(tool.job, tool.name, target, content, payload.get(FILE_NAME))
        made = await run_job(order, server, folder, context)
    return _kept(tool, made) if isinstance(made, Kept) else _told(tool, made)


async def fill_payload(tool: SkillTool, arguments: Arguments, context: Context) -> dict[str, Any]:
    """What is sent: the arguments with the skill's defaults, addresses checked and written in one form."""
    for name in arguments:
        if name in tool.constants:
            raise ArgumentsInvalid(f"`{plain(name)}` of {tool.name!r} is its skill's to say: leave it out.")
    payload = {**tool.defaults, **arguments}
    if (name := tool.page_url_argument) is not None:
        page = payload.pop(PAGE, None)
        if not payload.get(name):
            if not page:
                raise ArgumentsInvalid(f"Give {tool.name!r} a `{name}`, or a `{PAGE}` whose address is sent.")
            address = await context.page.address(page)
            payload[name] = str(_page_url(tool, page, address))
            context.logger.info("The address of page %s goes to %s", page, tool.endpoint.origin)
    for name in tool.input_url_arguments:
        if name in payload:
            payload[name] = str(_input_url(tool, name, payload[name]))
    return payload


def _page_url(tool: SkillTool, page: str, address: str) -> Url:
    """A page's address without its fragment, which no server gets otherwise."""
    try:
        return read_url(address.partition("#")[0])
    except ValueError as error:
        raise NotAllowed(
            f"{tool.name!r} can't be given the address of page {plain(page)}: it {error}. Name another page."
        ) from error


def _input_url(tool: SkillTool, name: str, given: object) -> Url:
    if not isinstance(given, str):
        raise ArgumentsInvalid(f"`{name}` of {tool.name!r} must be an address, such as https://shop.example/.")
    try:
        url = read_url(given)
    except ValueError as error:
        raise ArgumentsInvalid(f"`{name}` of {tool.name!r} {error}.") from error
    if tool.input_urls and not any(rule.admits(url) for rule in tool.input_urls):
        raise NotAllowed(
            f"`{name}` of {tool.name!r} may not be {plain(str(url))}: its skill names the addresses that may be, and "
            "this is none of them."
        )
    return url


def make_request(tool: SkillTool, payload: Arguments) -> tuple[str, bytes | None]:
    """The target and the body of the request.

    Raises:
        ArgumentsInvalid: the arguments make an address that is too long.
    """
    if tool.method == "POST":
        return tool.endpoint.target, json.dumps(payload).encode()
    query = urlencode(
        {name: value if isinstance(value, str) else _dumps(value) for name, value in payload.items()}, errors="replace"
    )
    target = "&".join(filter(None, (tool.endpoint.target, query)))
    if query and not tool.endpoint.query:
        target = f"{tool.endpoint.path}?{query}"
    if len(target) > limits.SKILL_URL_CHARS:
        raise ArgumentsInvalid(
            f"The arguments of {tool.name!r} make an address of {len(target):,} characters, and "
            f"{limits.SKILL_URL_CHARS:,} are allowed. Send less."
        )
    return target, None


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _told(tool: SkillTool, answer: Answer) -> dict[str, Any]:
    told = _head(tool, answer.status, success=answer.is_good)
    if not answer.is_good:
        return {**told, "detail": answer.text[: limits.SKILL_DETAIL_CHARS]}
    shortened = Shortening(tool.answer_limits)
    told["data"] = shortened.apply(answer.value())
    if shortened.cut:
        told |= {"truncated": True, "originalLength": len(answer.text)}
    return told


def _kept(tool: SkillTool, kept: Kept) -> dict[str, Any]:
    data: dict[str, Any] = {"jobId": kept.job_id, "file": str(kept.path), "bytes": kept.size, "cleanup": kept.cleanup}
    return {**_head(tool, kept.status, success=True), "data": data}


def _head(tool: SkillTool, status: int, *, success: bool) -> dict[str, Any]:
    return {
        "success": success,
        "status": status,
        "provider": tool.endpoint.netloc,
        "skillTool": tool.name,
        "skillName": tool.skill,
    }


class Shortening:
    """What a skill asks to be left out of its answers.

    Attributes:
        cut: whether anything was.
    """

    def __init__(self, answer_limits: AnswerLimits) -> None:
        self._limits = answer_limits
        self.cut = False

    def apply(self, value: Any, name: str = "") -> Any:  # noqa: ANN401  # any JSON
        match value:
            case str():
                return self._first(value, self._limits.text_chars)
            case list():
                parts = self._first(cast("list[Any]", value), self._limits.array_items.get(name))
                return [self.apply(part) for part in parts]
            case dict():
                members = cast("dict[str, Any]", value)
                return {key: self.apply(part, key) for key, part in members.items()}
            case _:
                return value

    def _first(self, value: Any, most: int | None) -> Any:  # noqa: ANN401  # a string or a list
        if most is None or len(value) <= most:
            return value
        self.cut = True
        return value[:most]
