"""The registry: a snapshot, and a stream of changes."""

import trio
import trio.testing

from bridge.tools.registry import Registry
from tests.pure.offers import offer


def test_the_registry_counts_real_changes_alone():
    registry = Registry()

    assert registry.publish(offer("add"))
    assert not registry.publish(offer("add"))
    assert registry.publish(offer("add", "more"))
    registry.withdraw("p1")
    registry.withdraw("p1")
    assert registry.version == 3
    assert registry.find("p1") is None


def test_each_page_has_what_it_offered_last_though_nothing_an_agent_reads_has_changed():
    registry = Registry()
    first, again, other = offer("add"), offer("add"), offer("add", page="p2")
    for tools in (first, other, again):
        registry.publish(tools)

    assert registry.find("p1") is again
    assert registry.find("p2") is other
    assert registry.find("p3") is None


def test_a_snapshot_does_not_change_under_its_reader():
    registry = Registry()
    registry.publish(offer("add"))
    snapshot = registry.snapshot
    registry.withdraw("p1")

    assert [tool.name for tool in snapshot["p1"]] == ["add"]


def test_a_registry_without_its_browser_is_empty():
    registry = Registry()
    registry.publish(offer("add"))
    registry.clear()
    registry.clear()

    assert (dict(registry.snapshot), registry.version) == ({}, 2)


async def test_each_change_wakes_whoever_waits_and_an_equal_answer_does_not():
    registry = Registry()
    seen: list[int] = []

    async def consume() -> None:
        version = registry.version
        while True:
            version = await registry.wait_change(version)
            seen.append(version)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consume)
        for tools in (offer("add"), offer("add"), offer("add", "more"), offer("add", "more")):
            await trio.testing.wait_all_tasks_blocked()
            registry.publish(tools)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()

    assert seen == [1, 2]


async def test_who_comes_late_is_told_at_once_and_of_the_last_change():
    registry = Registry()
    known = registry.version
    for document in range(1, 1000):
        registry.publish(offer("add", document=str(document)))

    with trio.fail_after(1):
        assert await registry.wait_change(known) == registry.version == 999


async def test_every_waiter_is_woken_and_one_that_gives_up_leaves_nothing():
    registry = Registry()
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as gives_up:
            gives_up.cancel()
            await registry.wait_change(0)
        for _ in range(2):
            nursery.start_soon(registry.wait_change, 0)
        await trio.testing.wait_all_tasks_blocked()
        registry.publish(offer("add"))
