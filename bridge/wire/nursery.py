"""A nursery for tasks that serve a block of code, without the block having to know."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NoReturn

import trio


@asynccontextmanager
async def open_background() -> AsyncGenerator[trio.Nursery]:
    """Tasks that end with the block. What the block raises comes out as it is, not in a group."""
    try:
        async with trio.open_nursery() as nursery:
            try:
                yield nursery
            finally:
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        _raise_alone(group)


def _raise_alone(group: BaseExceptionGroup) -> NoReturn:
    """Raise the group's one error, or else one cancellation; several errors stay together."""
    errors = [error for error in group.exceptions if not isinstance(error, trio.Cancelled)]
    alone, *others = errors or group.exceptions
    if errors and others:
        raise group
    context = alone.__context__
    try:
        raise alone
    finally:
        # Raising it here made the group its context, which says nothing.
        alone.__context__ = context
