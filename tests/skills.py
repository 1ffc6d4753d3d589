"""Skills for tests: a file with what a test changes in its one tool, and contexts that remember what they are told."""

import json
import logging
from typing import Any, Final

from bridge.errors import PageNotFound
from bridge.tools.skills.load import Reading, read_skill
from bridge.tools.skills.skill import SkillTool

ORIGIN: Final = "https://api.tides.example"

LOOK_UP: Final[dict[str, Any]] = {
    "name": "tide_now",
    "description": "Height of the tide at a place, in metres. Use it for questions about the sea.",
    "kind": "http",
    "endpoint": f"{ORIGIN}/v1/tide",
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Of a harbour."},
            "days": {"type": "integer", "description": "From today."},
        },
        "required": ["place"],
    },
}

ORDER: Final[dict[str, Any]] = {
    "name": "tide_chart",
    "description": "Draw a chart of the tides, and keep it as a file.",
    "kind": "httpDownloadJob",
    "readOnly": False,
    "requiresDownloadPermission": True,
    "method": "POST",
    "endpoint": f"{ORIGIN}/v1/charts",
    "job": {
        "statusEndpoint": f"{ORIGIN}/v1/charts/{{job_id}}",
        "fileEndpoint": f"{ORIGIN}/v1/charts/{{job_id}}/file",
        "cleanupEndpoint": f"{ORIGIN}/v1/charts/{{job_id}}",
    },
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Of a harbour."},
            "filename": {"type": "string", "description": "Of the chart."},
        },
    },
}


def at(tool: dict[str, Any], origin: str) -> dict[str, Any]:
    """The same tool of a service at another place."""
    return json.loads(json.dumps(tool).replace(ORIGIN, origin))


def without(tool: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in tool.items() if key != name}


def write(*tools: object, fence: str = "webbrain-tools", text: str = "# Tides\n\nAsk before you sail.\n") -> str:
    """A skill's file. The first tool's object begins in line 8 of it, with `text` as it is."""
    return f"{text}\n```{fence}\n{json.dumps({'tools': tools}, indent=1, ensure_ascii=False)}\n```\n"


def read(text: str, *, name: str = "tides", local_origins: frozenset[str] = frozenset()) -> Reading:
    data = text.encode("utf-8", "surrogatepass")
    return read_skill(data, name=name, source=f"skills/{name}.md", local_origins=local_origins)


def told(reading: Reading) -> list[str]:
    """Its problems as lines: `7 error …`."""
    return [f"{problem.line} {problem.severity} {problem.sentence}" for problem in reading.problems]


def tool_of(tool: dict[str, Any], *, local_origins: frozenset[str] = frozenset()) -> SkillTool:
    """The tool as it was read from a file of its own."""
    reading = read(write(tool), local_origins=local_origins)
    assert reading.skill is not None, told(reading)
    return reading.skill.tools[0]


class Pages:
    """Open pages, and their addresses."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self._addresses = addresses

    async def address(self, page: str) -> str:
        if page not in self._addresses:
            raise PageNotFound(page, list(self._addresses))
        return self._addresses[page]


class Context:
    """What a call gets to know its surroundings by."""

    def __init__(self, **addresses: str) -> None:
        self.page = Pages(addresses)
        self.logger = logging.getLogger("tests.skills")
        self.reported: list[float] = []

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.reported.append(done)
