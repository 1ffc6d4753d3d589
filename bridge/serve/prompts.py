"""Skills of a project as prompts: a client shows them to its user, who has the agent read one. No SDK here."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from bridge.calls.frame import escape, reveal
from bridge.calls.results import clean_text
from bridge.errors import UsageError

if TYPE_CHECKING:
    from bridge.tools.skills.skill import Skill

Skills = Callable[[], Awaitable["Sequence[Skill]"]]
"""Those that there are now. Raises a BridgeError."""


def list_prompts(skills: "Sequence[Skill]") -> dict[str, Any]:
    """Them as MCP's ListPromptsResult. Each says from which file it is."""
    return {"prompts": [_as_prompt(skill) for skill in skills]}


def _as_prompt(skill: "Skill") -> dict[str, Any]:
    return {"name": skill.name, "title": _shown(skill.title), "description": _describe(skill)}


def get_prompt(skills: "Sequence[Skill]", name: str) -> dict[str, Any]:
    """The text of one as MCP's GetPromptResult: a message of the user, as MCP has no role for words of others.

    Markup stays as it is written; what nobody would see does not.

    Raises:
        UsageError: there is none of that name.
    """
    for skill in skills:
        if skill.name == name:
            text = reveal(clean_text(skill.prompt))
            message = {"role": "user", "content": {"type": "text", "text": text}}
            return {"description": _describe(skill), "messages": [message]}
    known = ", ".join(skill.name for skill in skills)
    raise UsageError(f"Unknown prompt: {name}. {f'There are {known}.' if known else 'There is none now.'}")


def _describe(skill: "Skill") -> str:
    return f"Skill from {_shown(skill.source)}: {_shown(skill.summary)}"


def _shown(words: str) -> str:
    return escape(clean_text(words))
