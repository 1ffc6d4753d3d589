"""The process of one module: started, asked, and ended with all that it has started."""

import logging
import os
import re
import signal
import socket
import sys
from collections import deque
from itertools import count
from typing import Any, Final, cast

import trio

from bridge import limits
from bridge.errors import BridgeError, ModuleGone, ModuleUnusable, UsageError
from bridge.tools.modules.asked import Context, answer_asked, facts_of, read_progress
from bridge.tools.modules.frames import Json, Message, NoMessage, Unpacker, pack
from bridge.tools.modules.programs import Group, kill_group, plain_environment, start_group
from bridge.wire.nursery import open_background
from bridge.wire.pipes import CHUNK_BYTES, ChunkReader

logger = logging.getLogger(__name__)

_ACTION: Final = re.compile(r"a[0-9a-f]{16}")
_LAST_WORDS: Final = 10
"""Lines of a process that ended on its own, for the log."""


class Ended(Exception):
    """A request ended with an error of the module's.

    Attributes:
        kind: `threw`, `result` for one that can't be told, or `cancelled`.
    """

    def __init__(self, kind: str, message: str, traceback: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.traceback = traceback


class _Request:
    """One thing that the process was asked for.

    Attributes:
        is_open: what it asks for in turn is answered.
        is_sent: the process may have begun with it.
    """

    def __init__(self, context: Context | None, nursery: trio.Nursery) -> None:
        self.context = context
        self.nursery = nursery
        self.is_open = True
        self.is_sent = False
        self.settled = trio.Event()
        self.ended: Message | BridgeError | None = None
        self.asks = 0
        self.report: tuple[float, float | None, str | None] | None = None
        self.reported = trio.Event()

    def settle(self, ended: Message | BridgeError) -> None:
        if self.ended is None:
            self.ended = ended
            self.settled.set()

    def note(self, report: tuple[float, float | None, str | None] | None) -> None:
        """The latest report counts."""
        if report is not None:
            self.report = report
            self.reported.set()

    async def hand_on_progress(self, context: Context) -> None:
        while True:
            await self.reported.wait()
            self.reported = trio.Event()
            assert self.report is not None
            await context.progress(*self.report)
            await trio.sleep(limits.PROGRESS_SECONDS)


class ModuleProcess:
    """Runs the code of one module. `run` is its whole life; it can be asked from `started` on.

    Attributes:
        files: of the project that it has imported, with the hash of what it read.
        actions: what its tools have prepared, and that waits there to be resolved: a label by id.
        is_usable: it lives, and nothing in it goes on that was given up.
        hearing: held while it is told of its session.

    Args:
        label: the module's path as a person knows it.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.files: dict[str, str] = {}
        self.actions: dict[str, str] = {}
        self.is_usable = True
        self.hearing = trio.Lock()
        self._numbers = count(1)
        self._requests: dict[int, _Request] = {}
        self._sending = trio.Lock()
        self._scope = trio.CancelScope()
        self._over = trio.Event()
        self._lines = 0
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._stream: trio.SocketStream

    async def run(self, directory: str, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start it, and see it to its end.

        Raises:
            ModuleUnusable: it can't be started.
        """
        try:
            group, pipe, output = await _start(directory)
        except OSError as error:
            raise ModuleUnusable(f"No process can be started for {self.label}: {error}.") from error
        process = group.leader
        self._stream = trio.SocketStream(pipe)
        reason = "it was ended"
        try:
            async with self._stream, trio.lowlevel.FdStream(output) as lines, open_background() as nursery:
                nursery.start_soon(self._log_output, lines)
                nursery.start_soon(self._watch, process)
                with self._scope:
                    task_status.started()
                    reason = await self._read() or await _wait_reason(process)
        finally:
            self.is_usable = False
            self.actions.clear()
            await group.end()
            if reason != "it was ended":
                logger.warning("The process of %s: %s. %s", self.label, reason, plain(" | ".join(self._last_words)))
            self._settle_all(reason)
            self._over.set()

    def end(self) -> None:
        """Have it ended, whatever runs in it."""
        self.is_usable = False
        self._scope.cancel()

    async def ask(self, do: str, given: dict[str, Any], context: Context | None = None) -> Json:
        """Ask it for something, and return what it answers.

        Who is cancelled gives it `limits.GRACE_SECONDS` to stop; then it is ended, or, where more runs in it, not
        used again.

        Raises:
            Ended: the module raised an error.
            ModuleGone: the process ended meanwhile.
            ModuleUnusable: it had ended before, or while it loaded.
        """
        if self._over.is_set():
            raise ModuleUnusable(f"The process of {self.label} has ended. Nothing ran; try again.")
        number = next(self._numbers)
        request: _Request | None = None
        try:
            async with open_background() as nursery:
                request = self._requests[number] = _Request(context, nursery)
                try:
                    await self._run(request, number, do, given)
                finally:
                    request.is_open = False
        except trio.Cancelled:
            if request is not None and request.is_sent:
                await self._take_back(request, number)
            raise
        finally:
            self._requests.pop(number, None)
            self._lines = 0
        return _value_of(request.ended)

    async def _run(self, request: _Request, number: int, do: str, given: dict[str, Any]) -> None:
        if request.context is not None:
            request.nursery.start_soon(request.hand_on_progress, request.context)
            given = {**given, "context": facts_of(request.context)}
        try:
            message = pack({"id": number, "do": do, "with": given})
        except ValueError as error:
            raise UsageError(f"{self.label} can't be given that: {error}. Send less.") from error
        async with self._sending:
            await trio.lowlevel.checkpoint_if_cancelled()
            request.is_sent = True
            await self._send(message)
        await request.settled.wait()

    async def _take_back(self, request: _Request, number: int) -> None:
        with trio.move_on_after(limits.GRACE_SECONDS, shield=True):
            if self.is_usable:
                async with self._sending:
                    await self._send(pack({"cancel": number}))
            await request.settled.wait()
            return
        self.is_usable = False
        if len(self._requests) == 1:
            self.end()
            with trio.CancelScope(shield=True):  # bounded by what `run` does at its end
                await self._over.wait()

    async def _send(self, data: bytes) -> None:
        """Send a message, by who holds `_sending`."""
        whole = False
        try:
            await self._stream.send_all(data)
            whole = True
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            logger.debug("The process of %s takes no messages any more.", self.label)  # its end is told by `run`
        finally:
            if not whole:
                self.end()  # nothing behind half a message can be read

    async def _read(self) -> str:
        """Take what it says, until it ends; return why, or "" where only its exit tells."""
        unpacker = Unpacker()
        while True:
            try:
                chunk = await self._stream.receive_some(CHUNK_BYTES)
                for message in unpacker.feed(chunk):
                    self._handle(message)
            except NoMessage as error:
                return f"it wrote something else than messages to its pipe ({error})"
            except trio.BrokenResourceError:
                return ""
            if not chunk:
                return ""

    def _handle(self, message: Message) -> None:
        match message:
            case {"id": int(number)}:
                if isinstance(files := message.get("files"), dict):
                    self._note_files(cast("dict[object, object]", files))
                if (request := self._requests.get(number)) is not None:
                    request.settle(message)
            case {"ask": int(number), "for": int(asker), "do": str(do), "with": given}:
                request = self._requests.get(asker)
                if request is not None and request.is_open:
                    request.asks += 1
                    if request.asks > 2 * limits.MODULE_ASKS:  # it counts what was answered, and we what was taken
                        raise NoMessage("it asks for too much at the same time")
                    request.nursery.start_soon(self._answer, request, number, do, given)
            case {"tell": "progress", "for": int(asker), "with": given}:
                if (request := self._requests.get(asker)) is not None:
                    request.note(read_progress(given))
            case {"tell": "action", "with": {"id": str(action), "label": str(label)}}:
                if len(self.actions) < limits.MODULE_ACTIONS and _ACTION.fullmatch(action):
                    self.actions[action] = plain(label[: limits.SHOWN_CHARS])
            case {"tell": "log", "with": [int(level), str(text)]}:
                self._log(level, text)
            case _:
                raise NoMessage("none that there is")

    def _note_files(self, files: dict[object, object]) -> None:
        for path, digest in files.items():
            if isinstance(path, str) and isinstance(digest, str) and len(self.files) < limits.MODULE_FILES:
                self.files[path] = digest

    async def _answer(self, request: _Request, number: int, do: str, given: object) -> None:
        try:
            if request.context is None:
                raise ModuleUnusable("There is nobody to ask while a module is loaded: ask when its tool is called.")
            answer = pack({"ask": number, "value": await answer_asked(request.context, do, given)})
        except BridgeError as error:
            answer = pack({"ask": number, "error": {"message": str(error), "code": error.code}})
        except ValueError as error:
            message = f"The answer can't be handed on: {error}. Ask for less."
            answer = pack({"ask": number, "error": {"message": message, "code": "result_too_large"}})
        async with self._sending:
            await self._send(answer)
        request.asks -= 1

    def _log(self, level: int, text: str) -> None:
        self._lines += 1
        if self._lines < limits.MODULE_LOG_LINES:
            logger.log(min(level, logging.CRITICAL), "%s: %s", self.label, plain(text[: limits.MODULE_LOG_CHARS]))
        elif self._lines == limits.MODULE_LOG_LINES:
            logger.warning("%s says more than is logged.", self.label)

    async def _log_output(self, stream: trio.lowlevel.FdStream) -> None:
        """What it prints. It is read until the end, so that it never waits for us."""
        reader, unfinished = ChunkReader(stream), b""
        while chunk := await reader.receive():
            *lines, unfinished = (unfinished + bytes(chunk)).split(b"\n")
            unfinished = unfinished[-limits.MODULE_LOG_CHARS :]
            for line in lines[: limits.MODULE_LOG_LINES]:
                text = line[: limits.MODULE_LOG_CHARS].decode(errors="replace").rstrip()
                self._last_words.append(text)
                self._log(logging.INFO, text)

    async def _watch(self, process: trio.Process) -> None:
        """Its end ends the rest of its group, which could hold its pipe."""
        await process.wait()
        kill_group(process.pid)
        await trio.sleep(limits.CLOSE_SECONDS)
        self._scope.cancel()

    def _settle_all(self, reason: str) -> None:
        for request in self._requests.values():
            if request.context is None:
                request.settle(ModuleUnusable(f"{reason} while it loaded. Its last words are in the log."))
            else:
                request.settle(self._gone(reason))

    def _gone(self, reason: str) -> ModuleGone:
        return ModuleGone(
            f"The process of {self.label} is gone: {reason}. What ran in it may have done its work; a new one is "
            "started for the next call."
        )


async def _start(directory: str) -> tuple[Group, trio.socket.SocketType, int]:
    """The process with its group, our end of its pipe, and the descriptor that has its output."""
    if sys.platform == "win32":
        raise ModuleUnusable("Tools of a project need Linux or macOS: leave them out of [tools] here.")
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    try:
        with theirs:
            group = await start_group(
                [sys.executable, "-P", "-B", "-X", "utf8", "-m", "bridge.tools.modules.child", str(theirs.fileno())],
                cwd=directory,
                env=plain_environment(),
                stdout=write,
                stderr=write,
                pass_fds=(theirs.fileno(),),
            )
    except BaseException:
        ours.close()
        os.close(read)
        raise
    finally:
        os.close(write)
    return group, trio.socket.from_stdlib_socket(ours), read


def plain(text: str) -> str:
    """A text without what a terminal obeys, or nobody sees."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def plain_lines(text: str) -> str:
    """The same, with its lines."""
    return "\n".join(map(plain, text.split("\n")))


def _value_of(ended: Message | BridgeError | None) -> Json:
    match ended:
        case BridgeError():
            raise ended
        case {"error": {"kind": str(kind), "message": str(message), "traceback": str(traceback)}}:
            raise Ended(kind, message, traceback)
        case {"value": value}:
            return value
        case _:
            raise ModuleGone("The process of a module answered with neither a value nor an error.")


async def _wait_reason(process: trio.Process) -> str:
    """Why its pipe has ended."""
    with trio.move_on_after(limits.GRACE_SECONDS):
        return _ended_how(await process.wait())
    return "it closed its pipe"


def _ended_how(code: int) -> str:
    if code >= 0:
        return f"it exited with code {code}"
    try:
        return f"{signal.Signals(-code).name} ended it"
    except ValueError:
        return f"signal {-code} ended it"
