"""A tool of a skill as one of the bridge's own tools."""

from typing import Any

from bridge import limits
from bridge.tools.own import PlainTool
from bridge.tools.skills.run import Context, Reach, run_skill_tool
from bridge.tools.skills.skill import SkillTool


def offer_skill_tool(tool: SkillTool, reach: Reach, *, trusted: bool = False) -> PlainTool:
    """Make a skill's tool one of ours. Its requests and its job end in time by themselves.

    Args:
        trusted: the manifest says that this skill may have its results trusted. A skill that only says so of itself
            may not, and one that does not ask for it is not, either.
    """

    async def execute(arguments: dict[str, Any], context: Context) -> object:
        return await run_skill_tool(tool, arguments, context, reach)

    job_seconds = tool.job.seconds + limits.JOB_CLEANUP_SECONDS if tool.job is not None else 0.0
    return PlainTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        parameters=tool.parameters,
        kind="skill",
        source=tool.source,
        mode=tool.mode,
        tier=tool.tier,
        read_only=tool.read_only,
        page_derived=not (tool.wants_trust and trusted),
        origin=tool.endpoint.origin,
        most_seconds=limits.SKILL_EXCHANGE_SECONDS + job_seconds + limits.CLOSE_SECONDS,
        execute=execute,
    )
