"""What a project brings along for one agent: the tools of its modules and its skills, and what its manifest says of
all tools. A project's code runs only where its user has named it: nothing is looked for."""

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import trio

from bridge import limits
from bridge.calls.bridge import Bridge
from bridge.calls.built_ins import (
    BY_NAME,
    RESOLVE_ACTION,
    WHY_NO_ACTIONS,
    known_built_ins,
    why_not_offered,
)
from bridge.calls.masks import Masks, masked_logs
from bridge.calls.session import Event, watch_session
from bridge.errors import NotAllowed, UsageError
from bridge.files import stamp_of
from bridge.manifest.approved import read_approved
from bridge.manifest.grants import granted
from bridge.manifest.manifest import FILE, Issue, Manifest, SkillEntry
from bridge.manifest.read import ManifestFile
from bridge.manifest.secrets import find_secrets, read_secrets
from bridge.manifest.visibility import (
    check_agents,
    choose_agents,
    loaded_built_ins,
    taken_names,
    visible,
    why_missing,
)
from bridge.settings import MODES, TIERS, AgentSettings, Mode
from bridge.tools.modules.asked import Context
from bridge.tools.modules.modules import Modules, open_modules
from bridge.tools.modules.paths import expand_named, find_declared, find_named
from bridge.tools.modules.tool import Declared
from bridge.tools.own import OwnTool, PlainTool
from bridge.tools.skills.load import check_skills, read_skill
from bridge.tools.skills.offer import offer_skill_tool
from bridge.tools.skills.run import Reach
from bridge.tools.skills.skill import Skill
from bridge.wire.nursery import open_background

if TYPE_CHECKING:
    from bridge.calls.toolbox import AnyTool
    from bridge.tools.skills.network import Network

logger = logging.getLogger(__name__)

Json = Any


class Session(Protocol):
    """What a project needs of the session that it is in."""

    @property
    def bridge(self) -> Bridge: ...
    def session_context(self) -> Context: ...


class LazyNetwork:
    """The network of skills, whose HTTP client takes half a second to import: when it is needed first."""

    def __init__(self, local_origins: frozenset[str]) -> None:
        self._local_origins = local_origins
        self._network: Network | None = None

    def open_server(self, origin: str) -> Any:  # noqa: ANN401  # as Network has it
        if self._network is None:
            from bridge.tools.skills.network import Network

            self._network = Network(local_origins=self._local_origins)
        return self._network.open_server(origin)


@dataclass(frozen=True)
class LoadedSkills:
    """What came of the skills that a manifest names.

    Attributes:
        failed: why one was not loaded, by its name in the manifest.
        stamps: of their files, when they were read.
    """

    skills: tuple[Skill, ...] = ()
    tools: tuple[PlainTool, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    stamps: Mapping[str, object] = field(default_factory=dict[str, object])


class Project:
    """Made by `open_project`.

    Attributes:
        root: its folder; the working folder where none was named.
        version: rises whenever there are other tools.
        known_masks: what takes out the secrets that were granted so far.

    Raises:
        UsageError: its manifest, or a path, can't be used.
    """

    def __init__(self, settings: AgentSettings, session: Session, nursery: trio.Nursery) -> None:
        self.root = Path(os.path.realpath(settings.project or Path.cwd()))
        self.version = 0
        self._changed = trio.Event()
        self._settings = settings
        self._session = session
        self._built_ins = known_built_ins(settings.tools or tuple(BY_NAME))
        self._file = ManifestFile(self.root, self._built_ins) if settings.project is not None else None
        named = (path for one in settings.modules for path in expand_named(str(one), Path.cwd()))
        self._named = tuple(Declared(find_named(path, Path.cwd()), path) for path in named)
        self._manifest = self._read() if self._file is not None else Manifest(root=self.root)
        self._agents = choose_agents(self._manifest, settings.agents)
        self._modules: Modules | None = None
        self._skills = LoadedSkills()
        self._tools_known: dict[str, tuple[str, ...]] = {}
        """The tools that a module or a skill of this file had when it was loaded last."""
        self._unusable: dict[str, str] = {}
        """Modules of the manifest that are not loaded, and why."""
        self._problem = ""
        """Why nothing is offered at all."""
        self._must_wait = False
        """Whether nothing may be offered before the modules are loaded: an agent is not to have what only these can
        have, or it is a typing error."""
        self._loaded = trio.Event()
        self._refreshing = trio.Lock()
        self._nursery = nursery
        self._declares: tuple[Manifest, list[Declared]] = (self._manifest, [])
        """The manifest whose modules are loaded, and where these were."""
        self._checked = self._skills
        """The skills that were held against the modules."""
        self._warned: set[str] = set()
        self._told: frozenset[str] = frozenset()
        """All secrets that could be had since the session began: a tool may still have one that was replaced."""
        self.known_masks = Masks(())
        self._offer: tuple[object, Mapping[str, AnyTool]] | None = None

    # what there is

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._skills.skills

    @property
    def modules(self) -> Modules:
        """Those that are loaded, once `wait_loaded` has returned."""
        assert self._modules is not None
        return self._modules

    @property
    def failed(self) -> dict[str, str]:
        """What was not loaded, and why, by name."""
        modules = {one.name or one.label: one.reason for one in self._modules.failed} if self._modules else {}
        return {**self._unusable, **modules, **self._skills.failed}

    def offer(
        self, profile: Mapping[str, "AnyTool"], find: Callable[[str], "AnyTool | None"], mode: Mode
    ) -> Mapping[str, "AnyTool"]:
        """The tools that the agent has now, by name: built-in ones, then those of the project, then those of skills.

        Args:
            profile: the built-in ones, as far as the manifest does not say which.
            find: the built-in tool of a name, where the mode has it.
        """
        modules = self._modules.tools if self._modules is not None else ()
        state = (self._manifest, self._agents, modules, self._skills, self._problem, self._must_wait)
        if self._offer is not None and _same(self._offer[0], state):
            return self._offer[1]
        offered: Mapping[str, AnyTool] = {}
        if not (self._problem or self._must_wait):
            offered = self._choose(profile, find, modules, mode)
        self._offer = (state, offered)
        return offered

    def _choose(
        self,
        profile: Mapping[str, "AnyTool"],
        find: Callable[[str], "AnyTool | None"],
        modules: tuple[OwnTool, ...],
        mode: Mode,
    ) -> Mapping[str, "AnyTool"]:
        tools: dict[str, AnyTool] = dict(profile)
        if self._manifest.tools is not None:
            names = loaded_built_ins(self._manifest, self._built_ins)
            tools = {name: tool for name in names if (tool := find(name)) is not None}
        if modules and mode != "ask":
            is_derived = any(getattr(tool, "page_derived", False) for tool in modules)
            tools[RESOLVE_ACTION] = make_resolver(partial(_resolve, self), page_derived=is_derived)
        # Where both have a name, it is the module's, as it will be told once that was looked at.
        for tool in (*self._skills.tools, *modules):
            named = any(agent.shown is not None and tool.name in agent.shown for agent in self._agents)
            if not self._lacks(tool, mode) and (named or not getattr(tool, "hidden", False)):
                tools[tool.name] = tool
        seen = visible(tools, self._agents)
        return {name: tool for name, tool in tools.items() if name in seen}

    def _lacks(self, tool: OwnTool, mode: Mode) -> list[str]:
        """The options that would bring a tool which the mode or the tier leaves out."""
        lacks = [f"--mode {tool.mode}"] if MODES.index(tool.mode) > MODES.index(mode) else []
        return lacks + ([f"--tier {tool.tier}"] if TIERS.index(tool.tier) > TIERS.index(self._settings.tier) else [])

    def why_missing(self, name: str) -> str:
        """Why the agent has no tool of that name, in sentences that say what to do."""
        if self._problem:
            return self._problem
        if self._must_wait:
            return f"No tool is offered until the modules are loaded that {FILE} hides tools of. Call it again."
        if (reason := self.failed.get(name)) is not None:
            return f"Tool {name!r} did not load: {reason}"
        if visible((name,), self._agents) and (reason := self._why_left_out(name)):
            return reason
        return why_missing(name, self._manifest, self._built_ins, self._agents)

    def _why_left_out(self, name: str) -> str:
        """Why a tool that is loaded, and that the agent may have, is not offered. Nothing where there is no such."""
        modules = self._modules.tools if self._modules is not None else ()
        mode = self._settings.mode
        for tool in (*modules, *self._skills.tools):
            if tool.name == name and (lacks := self._lacks(tool, mode)):
                return f"{name} is not offered: it takes a pagebridge that is started with {' and '.join(lacks)}."
            if tool.name == name:
                return f"{name} is hidden: it is offered where [agents.NAME] in {FILE} lists it."
        if name in loaded_built_ins(self._manifest, self._built_ins):
            return why_not_offered(name, (name,), mode, self._settings.tier)
        if name == RESOLVE_ACTION:
            return WHY_NO_ACTIONS
        if self.replaces(name):
            source = self._manifest.declared[name].source
            names = [tool.name for tool in modules if tool.source == source]
            return f"{source} has no tool {name!r}. It has {', '.join(names)}." if names else ""
        return ""

    # how it changes

    async def run(self) -> None:
        """Load everything, keep what it needs running, and tell it of its session, until cancelled."""
        self._take_skills()
        self._declares = (self._manifest, self._declared())
        async with open_modules(
            self._declares[1], self._session.session_context(), taken=self._built_ins.names | self._built_ins.reserved
        ) as self._modules:
            self._check()
            self._loaded.set()
            self._nursery.start_soon(self._look_again)
            await watch_session(self._session.bridge, self._tell)

    async def _look_again(self) -> None:
        """Take in what has changed also where nothing is called, so that the agent hears of it; never during a call."""
        while True:
            await trio.sleep(limits.PROJECT_LOOK_SECONDS)
            if self._session.bridge.order.is_idle:
                await self.refresh()

    async def say_goodbye(self) -> None:
        """Tell modules that are loaded that their session ends."""
        if self._loaded.is_set():
            await self.modules.say_goodbye()

    async def _tell(self, event: Event) -> None:
        if self.has_hook("on_session"):
            await self.modules.tell_session(event)

    async def wait_loaded(self) -> None:
        await self._loaded.wait()

    async def refresh(self, name: str | None = None, *, wait: bool = True) -> None:
        """Take in what has changed in the project's files. What runs meanwhile ends as it was.

        Args:
            name: the tool that is to be called, where that is why.
            wait: for modules that are loaded, or loaded anew; without it they are, beside what comes next.
        """
        if self._file is not None:
            self._take_manifest()
        wait = wait or self._must_wait
        if wait or not self._refreshing.locked():
            # It is the project's own work: who waits for it may be taken back in the middle.
            done = trio.Event()
            self._nursery.start_soon(self._refresh_modules, name if wait else None, done)
            if wait:
                await done.wait()

    async def _refresh_modules(self, name: str | None, done: trio.Event) -> None:
        try:
            await self._loaded.wait()
            async with self._refreshing:
                before, self._declares = self._declares, (self._manifest, self._declared())
                if declared := before[0] is not self._manifest or before[1] != self._declares[1]:
                    await self.modules.declare(self._declares[1])
                loaded = await self.modules.refresh(name)
                if declared or loaded or self._skills is not self._checked:
                    self._check()
                    self.version += 1
                    self._changed.set()
                    self._changed = trio.Event()
                    self._nursery.start_soon(self._tell, {"reason": "tools_changed"})
        finally:
            done.set()

    async def wait_change(self, version: int) -> int:
        """Block until there is another version than this one, and return it."""
        while self.version == version:
            await self._changed.wait()
        return self.version

    def replaces(self, name: str) -> bool:
        """Whether the manifest has a module for that name, in the place of a built-in tool if there is one."""
        entry = self._manifest.declared.get(name)
        return entry is not None and not entry.is_built_in

    def _read(self) -> Manifest:
        assert self._file is not None
        return self._file.read()

    def _take_manifest(self) -> None:
        try:
            manifest = self._read()
            agents = self._agents if manifest is self._manifest else choose_agents(manifest, self._settings.agents)
        except UsageError as error:
            self._warn(f"{error} What it said before holds until it is mended.")
            return
        if manifest is not self._manifest or self._skills.stamps != self._stamps():
            self._manifest, self._agents = manifest, agents
            self._take_skills()

    def _declared(self) -> list[Declared]:
        declared: list[Declared] = []
        self._unusable = {}
        for entry in self._manifest.declared.values():
            if entry.is_built_in:
                continue
            try:
                declared.append(Declared(find_declared(entry.source, self.root), entry.source, entry.name))
            except UsageError as error:
                self._unusable[entry.name] = str(error)
                self._warn(f"{entry.file}, line {entry.line}: {error}")
        return [*declared, *self._named]

    def _take_skills(self) -> None:
        stamps = self._stamps()
        read: list[tuple[SkillEntry, Skill]] = []
        failed: dict[str, str] = {}
        for entry in self._manifest.skills.values():
            try:
                data = read_approved(self.root, entry)
            except UsageError as error:
                failed[entry.name] = str(error)
                continue
            reading = read_skill(data, name=entry.name, source=entry.path, local_origins=entry.local_origins)
            if reading.skill is None:
                first = next(problem for problem in reading.problems if problem.severity == "error")
                failed[entry.name] = f"{entry.path}, line {first.line}: {first.sentence}"
            else:
                read.append((entry, reading.skill))
        taken = taken_names(self._manifest, self._built_ins)
        bad = {skill.name: reason for skill, reason in check_skills([skill for _, skill in read], taken)}
        failed |= bad
        for name, reason in failed.items():
            self._warn(f"Skill {name} was not loaded: {reason}")
        for entry in self._manifest.skills.values():
            if entry.name in failed:
                failed |= dict.fromkeys(self._tools_known.get(entry.path, ()), failed[entry.name])
        good = [(entry, skill) for entry, skill in read if skill.name not in bad]
        tools = [tool for entry, skill in good for tool in self._tools_of(entry, skill)]
        self._skills = LoadedSkills(tuple(skill for _, skill in good), tuple(tools), failed, stamps)
        self._tools_known |= {skill.source: tuple(tool.name for tool in skill.tools) for _, skill in good}
        modules = self._modules.tools if self._modules is not None else ()
        issues = self._check_agents(tool.name for tool in modules)
        self._must_wait = any(issue.severity == "error" for issue in issues)

    def _tools_of(self, entry: SkillEntry, skill: Skill) -> list[PlainTool]:
        downloads = None if entry.downloads is None else self.root / entry.downloads
        reach = Reach(servers=LazyNetwork(entry.local_origins), downloads=downloads)
        return [offer_skill_tool(tool, reach, trusted=entry.trusted) for tool in skill.tools]

    def _stamps(self) -> dict[str, object]:
        return {entry.path: _stamp(self.root / entry.path) for entry in self._manifest.skills.values()}

    def _check(self) -> None:
        """What can be known only now: whether the names that an agent is not to have mean something, and whether a
        module's tool has the name of a skill's."""
        modules = {tool.name: tool.source for tool in self.modules.tools}
        clashing = [tool for tool in self._skills.tools if tool.name in modules]
        if clashing:
            failed = dict(self._skills.failed)
            for tool in clashing:
                other = modules[tool.name]
                failed[tool.name] = (
                    f"{tool.source} has a tool {tool.name!r}, and so has {other}: rename it in the skill."
                )
                self._warn(failed[tool.name])
            tools = tuple(tool for tool in self._skills.tools if tool not in clashing)
            self._skills = replace(self._skills, tools=tools, failed=failed)
        self._checked = self._skills
        self._must_wait = False
        for source in {*modules.values()}:
            self._tools_known[source] = tuple(name for name, of in modules.items() if of == source)
        failed = {one.label for one in self.modules.failed}
        names = [*modules, *(name for source in failed for name in self._tools_known.get(source, ()))]
        issues = self._check_agents(names, all_known=not self.failed)
        errors = [issue for issue in issues if issue.severity == "error"]
        for issue in issues:
            self._warn(str(issue))
        self._problem = f"No tool is offered, since {FILE} can't be right: {errors[0]}" if errors else ""

    def _check_agents(self, modules: Iterable[str], *, all_known: bool = True) -> list[Issue]:
        """What is wrong with the names that agents are given or not given, where modules have tools of these names."""
        failed = [entry.path for entry in self._manifest.skills.values() if entry.name in self._skills.failed]
        remembered = (name for path in failed for name in self._tools_known.get(path, ()))
        names = {*modules, *remembered, *(tool.name for tool in self._skills.tools)}
        return list(check_agents(self._manifest, self._built_ins, names, all_known=all_known))

    def _warn(self, sentence: str) -> None:
        """Say it to the person, once."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            logger.warning("%s", sentence)

    # what goes along with each call

    def granted(self) -> dict[str, str]:
        """The variables and secrets that its tools may have, as they are now.

        Raises:
            UsageError: the secrets can't be read.
        """
        secrets = self._secrets()
        self._remember(secrets)
        return granted(self._manifest, self._agents, environ=os.environ, secrets=secrets)

    def _secrets(self) -> dict[str, str]:
        if self._manifest.secrets is not None and not self._manifest.secrets:
            return {}
        return read_secrets(find_secrets(self.root))

    def masks(self) -> Masks:
        """What takes out the secrets that were granted at any time: who had one that was removed may tell it still."""
        with suppress(UsageError):  # those that can't be read were given to nobody
            self._remember(self._secrets())
        return self.known_masks

    def _remember(self, secrets: Mapping[str, str]) -> None:
        told = self._told.union(granted(self._manifest, self._agents, environ={}, secrets=secrets).values())
        if told != self._told:
            self._told, self.known_masks = told, Masks(told)

    def has_hook(self, name: str) -> bool:
        return self._modules is not None and self._modules.has_hook(name)

    async def rewrite(
        self, tool: str, arguments: Mapping[str, Any], result: Json, context: Context, *, is_error: bool
    ) -> tuple[Json, bool]:
        """A result as the modules' `on_result` has it."""
        if not self.has_hook("on_result"):
            return result, is_error
        event = {"tool": tool, "arguments": dict(arguments), "result": result, "is_error": is_error}
        return await self.modules.rewrite(event, context)


def make_resolver(
    execute: Callable[[dict[str, Any], Any], Awaitable[object]], *, page_derived: bool = False
) -> PlainTool:
    """The tool that carries out what a tool of the project has prepared. It is the project's code that runs then."""
    return PlainTool(
        name=RESOLVE_ACTION,
        title="Resolve a pending action",
        description="Carry out, or discard, what a tool of the project has prepared and given an id for. Once.",
        parameters={
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "As the tool's answer gives it"},
                "action": {"enum": ["apply", "discard"]},
                "reason": {"type": "string", "maxLength": limits.REASON_CHARS},
            },
            "required": ["id", "action"],
            "additionalProperties": False,
        },
        kind="project",
        source=f"builtin:{RESOLVE_ACTION}",
        mode="act",
        read_only=False,
        page_derived=page_derived,
        most_seconds=limits.MODULE_CALL_SECONDS,
        execute=execute,
    )


async def _resolve(project: Project, arguments: dict[str, Any], context: Context) -> Json:
    if context.depth:
        raise NotAllowed("An action waits for the agent to resolve it; a tool can't. Nothing ran.")
    how = arguments["action"]
    return await project.modules.resolve(arguments["id"], how, arguments.get("reason", ""), context)


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401  # tuples of frozen values
    return all(a is b or a == b for a, b in zip(one, other, strict=True))


def _stamp(path: Path) -> object:
    try:
        found = path.lstat()
    except OSError:
        return None
    return stamp_of(found)


@asynccontextmanager
async def open_project(settings: AgentSettings, session: Session) -> AsyncGenerator[Project]:
    """A project for the length of the block. It loads in the background.

    Raises:
        UsageError: its manifest, or a path, can't be used.
    """
    async with open_background() as nursery:
        project = Project(settings, session, nursery)
        with masked_logs(lambda: project.known_masks):
            nursery.start_soon(project.run)
            try:
                yield project
            finally:
                await project.say_goodbye()  # before what runs here is cancelled, and the modules' processes with it
