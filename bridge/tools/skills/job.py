"""A file that a service makes on demand: order it, wait until it is made, fetch it, and have it removed there.

order ── id ──> wait ── complete ──> fetch ──> keep
                 │ ^                   │
                 │ └── anything else   │
              failed                 failed
                 └──────> remove <─────┘   (always, once there is an id; also when the call is cancelled)
"""

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast
from urllib.parse import unquote

import trio

from bridge import limits
from bridge.errors import BridgeError, CallRejected, EndpointFailed
from bridge.files import why_failed
from bridge.tools.faults import plain, shown
from bridge.tools.skills.downloads import open_download, safe_name, told_name
from bridge.tools.skills.exchange import Answer, Reply, Server, ask, too_large
from bridge.tools.skills.skill import Job
from bridge.tools.skills.urls import Url, fill_template

DONE: Final = frozenset({"complete", "completed", "done", "success"})
FAILED: Final = frozenset({"failed", "error", "cancelled", "canceled"})
_MISFIT: Final = "The skill does not fit its service: only its author can mend that."
FILE_NAME: Final = "filename"
"""The argument that says what the file is to be called, where the tool has one."""


class Telling(Protocol):
    """What a job needs of the context of its call."""

    @property
    def logger(self) -> logging.Logger: ...
    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A file that has come.

    Attributes:
        status: of the answer that was the file.
        cleanup: `done`, or what became of it.
    """

    job_id: str
    path: Path
    size: int
    status: int
    cleanup: str = "done"


@dataclass(frozen=True)
class Order:
    """What is ordered.

    Attributes:
        tool: what the file is called where nobody has a name for it.
        name: what the call wants the file to be called.
    """

    job: Job
    tool: str
    target: str
    content: bytes | None
    name: object = None


@dataclass(frozen=True)
class _Run:
    """One job, once it has an id."""

    job: Job
    job_id: str
    status: Url
    file: Url
    cleanup: Url


async def run_job(order: Order, server: Server, folder: Path, context: Telling) -> Kept | Answer:
    """Run one. An answer is what the service refused to make it with.

    Raises:
        EndpointUnreachable, AnswerLost, EndpointFailed, NotAllowed: as `run_skill_tool`.
    """
    job = order.job
    with trio.move_on_after(job.seconds):
        answer = await ask(server, "POST", order.target, content=order.content)
        if not answer.is_good:
            return answer
        run = _begin(job, answer, server)
        try:
            await _wait(run, server, context)
            kept = await _fetch(run, order, server, folder)
        except CallRejected as error:
            # That one request was not sent; the order was.
            raise error.after_dispatch() from error
        finally:
            removed = await _remove(run, server, context.logger)
        return replace(kept, cleanup=removed)
    raise EndpointFailed(f"{server.origin} did not make the file within {job.seconds:g} s. Try again later.")


def _begin(job: Job, answer: Answer, server: Server) -> _Run:
    """The addresses of a job, which must not lead anywhere else, whatever the id is."""
    value = answer.value()
    given = cast("dict[str, Any]", value).get(job.id_field) if isinstance(value, dict) else None
    job_id = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
    if not job_id:
        said = "no" if given in (None, "") else f"{shown(given)} for its"
        raise EndpointFailed(
            f"{server.origin} took the order, and its answer has {said} `{plain(job.id_field)}`. {_MISFIT}"
        )
    try:
        status, file, cleanup = (
            fill_template(template, job_id, server.origin, frozenset({server.origin}))
            for template in (job.status, job.file, job.cleanup)
        )
    except ValueError as error:
        raise EndpointFailed(f"{server.origin} took the order, and the id of the job {error}. {_MISFIT}") from error
    return _Run(job, job_id, status, file, cleanup)


async def _wait(run: _Run, server: Server, context: Telling) -> None:
    """Until the file is made."""
    looks = 0
    while True:
        answer = await ask(server, "GET", run.status.target)
        state = _state(answer)
        if state in DONE:
            return
        if state in FAILED:
            raise EndpointFailed(
                f"{server.origin} could not make the file: {plain(state)}. Order it anew, or another one."
            )
        looks += 1
        await context.progress(looks, None, "The file is not made yet")
        await trio.sleep(run.job.poll_seconds)


def _state(answer: Answer) -> str:
    value = answer.value() if answer.is_good else None
    state = cast("dict[str, Any]", value).get("status") if isinstance(value, dict) else None
    if not isinstance(state, str):
        said = f"status {answer.status}" if not answer.is_good else "no `status`"
        raise EndpointFailed(
            f"{answer.origin} was asked how far the file is, and answered with {said}. Try again later."
        )
    return state.strip().lower()


async def _fetch(run: _Run, order: Order, server: Server, folder: Path) -> Kept:
    async with server.send("GET", run.file.target, packed=False) as reply:
        if not 200 <= reply.status < 300:
            raise EndpointFailed(
                f"{server.origin} made the file, and did not give it: status {reply.status}. Try again later."
            )
        packing = reply.headers.get("content-encoding", "identity")
        if packing.strip().lower() not in ("identity", ""):
            raise EndpointFailed(
                f"{server.origin} packed the file as {plain(packing)}, which nobody asked for. {_MISFIT}"
            )
        length = reply.headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > limits.DOWNLOAD_BYTES:
            raise too_large(server.origin, limits.DOWNLOAD_BYTES)
        name = safe_name(_wanted_name(order, reply, run.file), order.tool)
        try:
            with open_download(folder, name) as (path, file):
                size = await _write(reply, file, server.origin)
        except OSError as error:
            raise EndpointFailed(f"{name} can't be kept: {why_failed(error)}. Make room, and try again.") from error
        return Kept(job_id=run.job_id, path=path, size=size, status=reply.status)


async def _write(reply: Reply, file: BinaryIO, origin: str) -> int:
    """Write what comes, up to the limit, and say how much that was."""
    size = 0
    async with reply.chunks() as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > limits.DOWNLOAD_BYTES:
                raise too_large(origin, limits.DOWNLOAD_BYTES)
            file.write(chunk)
    return size


def _wanted_name(order: Order, reply: Reply, url: Url) -> str:
    """The agent's, the service's, or that of the address."""
    if isinstance(order.name, str) and order.name:
        return order.name
    return told_name(reply.headers.get("content-disposition", "")) or unquote(url.path.rpartition("/")[2])


async def _remove(run: _Run, server: Server, logger: logging.Logger) -> str:
    """Have the job removed at the service, once: also when its call is over. What becomes of it."""
    with trio.move_on_after(limits.JOB_CLEANUP_SECONDS, shield=True):
        try:
            answer = await ask(server, "DELETE", run.cleanup.target)
        except BridgeError as error:
            # The call has an outcome of its own, which this must not hide.
            logger.warning("The job %s was not removed: %s", plain(run.job_id), error)
            return f"failed: {error}"
        return "done" if answer.is_good else f"failed: {server.origin} answered with status {answer.status}."
    logger.warning("The job %s was not removed within %g s", plain(run.job_id), limits.JOB_CLEANUP_SECONDS)
    return f"failed: no answer within {limits.JOB_CLEANUP_SECONDS:g} s."
