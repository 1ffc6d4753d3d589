"""A job of a skill ends in a file or a reason, in its time, and is removed at its service whatever happened."""

import errno
import json
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from bridge import limits
from bridge.errors import BridgeError, EndpointFailed, EndpointUnreachable, NotAllowed
from bridge.tools.skills import downloads
from bridge.tools.skills.job import DONE, FAILED
from bridge.tools.skills.run import Reach, run_skill_tool
from tests.skills import ORDER, ORIGIN, Context, tool_of


class Reply:
    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {}
        self._body = body

    @asynccontextmanager
    async def chunks(self) -> AsyncGenerator[AsyncIterator[bytes]]:
        async def parts() -> AsyncGenerator[bytes]:
            yield self._body

        stream = parts()
        yield stream
        await stream.aclose()


class Script:
    """A service that says what a test wrote: for each request a status and a body, an error, or a wait.

    Requests that it has no more words for are answered with the last ones.
    """

    origin = ORIGIN

    def __init__(self, *, order: object = '{"job_id": "7"}', states: object = "complete", file: object = b"PNG",
                 cleanup: object = b"") -> None:  # fmt: skip
        self._words = {"order": order, "state": states, "file": file, "cleanup": cleanup}
        self.asked: list[str] = []

    @asynccontextmanager
    async def open_server(self, origin: str) -> AsyncGenerator["Script"]:
        assert origin == ORIGIN
        yield self

    @asynccontextmanager
    async def send(
        self, method: str, target: str, *, content: bytes | None = None, packed: bool = True
    ) -> AsyncGenerator[Reply]:
        self.asked.append(f"{method} {target}")
        match method, target.endswith("/file"):
            case "POST", _:
                yield await self._say("order")
            case "GET", True:
                yield await self._say("file")
            case "GET", _:
                yield await self._say("state")
            case _:
                yield await self._say("cleanup")

    async def _say(self, which: str) -> Reply:
        words = self._words[which]
        if isinstance(words, list):
            words = words.pop(0) if len(words) > 1 else words[0]
        match words:
            case Exception():
                raise words
            case float():
                await trio.sleep(words)
                return Reply(200, b"")
            case int():
                return Reply(words, b"")
            case str() if which == "state" and not words.startswith("{"):
                return Reply(200, json.dumps({"status": words}).encode())
            case str():
                return Reply(200, words.encode())
            case bytes():
                return Reply(200, words)
            case _:
                raise AssertionError(words)


@pytest.fixture
def context() -> Context:
    return Context()


async def run(script: Script, folder: Path, *, context: Context | None = None, **change: Any) -> dict[str, Any]:
    tool = tool_of({**ORDER, "job": {**ORDER["job"], **change}})
    with trio.fail_after(1000):
        return await run_skill_tool(tool, {}, context or Context(), Reach(servers=script, downloads=folder))


async def failure(script: Script, folder: Path, **change: Any) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        await run(script, folder, **change)
    assert os.listdir(folder) == []
    return caught.value


def cleanups(script: Script) -> list[str]:
    return [asked for asked in script.asked if asked.startswith("DELETE")]


@pytest.mark.parametrize("state", [*sorted(DONE), "Complete", " DONE "])
async def test_a_job_is_made_in_each_word_for_that(tmp_path: Path, autojump_clock: MockClock, state: str):
    assert (await run(Script(states=state), tmp_path))["data"]["cleanup"] == "done"


@pytest.mark.parametrize("state", sorted(FAILED))
async def test_a_job_that_failed_is_told_and_removed(tmp_path: Path, autojump_clock: MockClock, state: str):
    script = Script(states=state)

    error = await failure(script, tmp_path)

    assert str(error) == f"{ORIGIN} could not make the file: {state}. Order it anew, or another one."
    assert cleanups(script) == ["DELETE /v1/charts/7"]


async def test_a_job_is_looked_at_as_often_as_its_skill_says_and_each_time_is_told(
    tmp_path: Path, context: Context, autojump_clock: MockClock
):
    start = trio.current_time()

    await run(Script(states=["queued", "odd word", "complete"]), tmp_path, context=context, pollIntervalMs=2500)

    assert trio.current_time() - start == 5
    assert context.reported == [1, 2]


@pytest.mark.feature("skills.jobs")
@pytest.mark.parametrize("timeout_ms", [None, 5000])
@pytest.mark.threat("S8")
async def test_a_job_that_never_ends_is_ended_in_its_time_and_removed(
    tmp_path: Path, autojump_clock: MockClock, timeout_ms: int | None
):
    script = Script(states="queued")
    seconds = timeout_ms / 1000 if timeout_ms else limits.JOB_SECONDS
    start = trio.current_time()

    error = await failure(script, tmp_path, **({"timeoutMs": timeout_ms} if timeout_ms else {}))

    assert trio.current_time() - start == seconds
    assert str(error) == f"{ORIGIN} did not make the file within {seconds:g} s. Try again later."
    assert len(cleanups(script)) == 1


@pytest.mark.threat("S7", "S8")
async def test_a_file_that_does_not_come_is_waited_for_in_the_time_of_its_job(
    tmp_path: Path, autojump_clock: MockClock
):
    script = Script(file=1000.0)
    start = trio.current_time()

    error = await failure(script, tmp_path)

    assert trio.current_time() - start == limits.JOB_SECONDS
    assert "did not make the file within 90 s" in str(error)
    assert len(cleanups(script)) == 1


@pytest.mark.feature("skills.jobs")
@pytest.mark.threat("S8")
async def test_a_cancelled_job_is_removed_within_five_seconds(tmp_path: Path, autojump_clock: MockClock):
    quick, slow = Script(states=60.0), Script(states=60.0, cleanup=60.0)
    took: list[float] = []

    for script in (quick, slow):
        start = trio.current_time()
        with trio.move_on_after(2):
            await run(script, tmp_path)
        took.append(trio.current_time() - start)
        assert cleanups(script) == ["DELETE /v1/charts/7"]

    assert took == [2, 2 + limits.JOB_CLEANUP_SECONDS]


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("cleanup", "told"),
    [
        (404, f"failed: {ORIGIN} answered with status 404."),
        (EndpointUnreachable("It is away."), "failed: It is away."),
        (60.0, "failed: no answer within 5 s."),
    ],
    ids=["refused", "away", "slow"],
)
async def test_a_job_that_is_not_removed_is_told_beside_its_file(
    tmp_path: Path, autojump_clock: MockClock, cleanup: object, told: str
):
    script = Script(cleanup=cleanup)

    data = (await run(script, tmp_path))["data"]

    assert data["cleanup"] == told
    assert (data["file"], data["bytes"]) == (str(tmp_path / "file"), len(b"PNG"))
    assert len(cleanups(script)) == 1


@pytest.mark.threat("S8")
async def test_a_clean_up_that_fails_does_not_hide_why_the_job_did(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    script = Script(states="failed", cleanup=EndpointFailed("It broke."))

    error = await failure(script, tmp_path)

    assert "could not make the file" in str(error)
    assert "The job 7 was not removed: It broke." in caplog.text


@pytest.mark.threat("S8")
@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("{}", "took the order, and its answer has no `job_id`"),
        ("[]", "took the order, and its answer has no `job_id`"),
        ("text", "took the order, and its answer has no `job_id`"),
        ('{"job_id": ""}', "took the order, and its answer has no `job_id`"),
        ('{"job_id": true}', "took the order, and its answer has true for its `job_id`"),
        ('{"job_id": 1.5}', "took the order, and its answer has 1.5 for its `job_id`"),
        ('{"job_id": {"a": 1}}', "took the order, and its answer has an object of 1 property for its"),
        ('{"job_id": "../../x"}', "the id of the job can't stand in an address"),
        ('{"job_id": ".."}', "the id of the job can't stand in an address"),
        (json.dumps({"job_id": "x" * 1_000_000}), "the id of the job has 1,000,000 characters, and 256 are allowed"),
    ],
    ids=lambda part: part[:25],
)
async def test_an_order_without_an_id_that_can_be_used_ends_there(tmp_path: Path, order: str, why: str):
    script = Script(order=order)

    error = await failure(script, tmp_path)

    assert why in str(error)
    assert script.asked == ["POST /v1/charts"]


async def test_nothing_is_ordered_where_no_file_can_be_kept(tmp_path: Path):
    script = Script()

    with pytest.raises(NotAllowed, match="is no folder"):
        await run(script, tmp_path / "missing")

    assert script.asked == []


async def test_an_order_that_is_refused_is_a_result(tmp_path: Path):
    script = Script(order=402)

    result = await run(script, tmp_path)

    assert (result["success"], result["status"]) == (False, 402)
    assert script.asked == ["POST /v1/charts"]


async def test_the_id_may_have_another_name(tmp_path: Path):
    script = Script(order='{"id": 12}')

    await run(script, tmp_path, idField="id")

    assert script.asked[1] == "GET /v1/charts/12"


@pytest.mark.parametrize(
    ("states", "why"), [(500, "status 500"), ("{}", "no `status`"), ('{"status": 1}', "no `status`")], ids=str
)
async def test_a_state_that_is_none_ends_the_job(tmp_path: Path, autojump_clock: MockClock, states: object, why: str):
    script = Script(states=states)

    error = await failure(script, tmp_path)

    assert str(error) == f"{ORIGIN} was asked how far the file is, and answered with {why}. Try again later."
    assert len(cleanups(script)) == 1


@pytest.mark.threat("S8")
async def test_a_service_that_is_away_after_the_order_was_asked_all_the_same(tmp_path: Path):
    script = Script(states=EndpointUnreachable(f"{ORIGIN} can't be reached: gone. Try again later."))

    error = await failure(script, tmp_path)

    assert (error.code, error.dispatched, error.outcome) == ("endpoint_unreachable", True, "unknown")
    assert len(cleanups(script)) == 1


class FullDisk:
    """A file on it takes nothing: it says so at once, or when what was kept back is written at last."""

    def __init__(self, *, at_the_end: bool) -> None:
        self._at_the_end = at_the_end

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *_: object) -> None:
        if self._at_the_end:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(self, _: bytes) -> None:
        if not self._at_the_end:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_a_disk_that_is_full_is_told_and_the_job_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_the_end: bool
):
    script = Script()
    monkeypatch.setattr(downloads, "open_new", lambda _: FullDisk(at_the_end=at_the_end))

    error = await failure(script, tmp_path)

    assert str(error) == "file can't be kept: No space left on device. Make room, and try again."
    assert len(cleanups(script)) == 1
