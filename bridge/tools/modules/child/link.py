"""The pipe to the bridge, as the process of a module has it."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count, islice
from typing import Any, Final, NoReturn

from bridge import limits
from bridge.tools.modules.frames import Message, Unpacker, pack

_CHUNK_BYTES: Final = 256 * 1024


class Refused(RuntimeError):
    """The bridge did not do what a module asked for, and says why.

    Attributes:
        code: the bridge's stable word for it.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Link:
    """Reads in a thread of its own, so that the end of the bridge is seen while code of the module runs. Anybody may
    write.

    Args:
        take: gets each request of the bridge, in that thread.
        cancel: the same for a request that is taken back.
    """

    def __init__(self, pipe: socket.socket, take: Callable[[Message], None], cancel: Callable[[int], None]) -> None:
        self._pipe = pipe
        self._take = take
        self._cancel = cancel
        self._writing = threading.Lock()
        self._numbers = count(1)
        self._asking = threading.Lock()
        self._asked: dict[int, tuple[int, Future[Any]]] = {}
        self._waiting: dict[int, bytes] = {}
        self._in_flight: set[int] = set()
        self._is_copy = False
        os.register_at_fork(after_in_child=self._let_go)

    def start(self) -> None:
        threading.Thread(target=self._read, name="pagebridge", daemon=True).start()

    def send(self, message: Message) -> None:
        """Raises what `pack` raises; nothing is sent then."""
        self._write(pack(message))

    def _write(self, data: bytes) -> None:
        if self._is_copy:
            os._exit(1)  # a fork that went on as if it were the module
        try:
            with self._writing:
                self._pipe.sendall(data)
        except OSError:
            _end()

    def check(self) -> None:
        """End us where the module has closed the pipe: what wakes the loop has gone with it, as a rule."""
        try:
            self._pipe.getpeername()
        except OSError:
            _end()

    def ask(self, request: int, do: str, given: dict[str, Any]) -> "Future[Any]":
        """Ask the bridge for something on behalf of one of its requests, once few enough other things are asked."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()  # who waits may give up, and does not change it
        message = pack({"ask": number, "for": request, "do": do, "with": given})
        with self._asking:
            self._asked[number] = request, answer
            self._waiting[number] = message
        self._ask_more()
        return answer

    def drop(self, request: int, error: BaseException) -> None:
        """End the wait for all that was asked on behalf of a request."""
        with self._asking:
            numbers = [number for number, (asker, _) in self._asked.items() if asker == request]
            answers = [self._forget_asked(number) for number in numbers]
        self._ask_more()
        for answer in answers:
            if answer is not None:
                answer.set_exception(error)

    def _forget_asked(self, number: int) -> "Future[Any] | None":
        """By who holds `_asking`."""
        _, answer = self._asked.pop(number, (0, None))
        self._waiting.pop(number, None)
        self._in_flight.discard(number)
        return answer

    def _ask_more(self) -> None:
        with self._asking:
            numbers = list(islice(self._waiting, limits.MODULE_ASKS - len(self._in_flight)))
            self._in_flight.update(numbers)
            messages = [self._waiting.pop(number) for number in numbers]
        for message in messages:
            self._write(message)

    def _read(self) -> None:
        unpacker = Unpacker()
        try:
            while chunk := self._pipe.recv(_CHUNK_BYTES):
                for message in unpacker.feed(chunk):
                    self._handle(message)
        finally:
            _end()

    def _handle(self, message: Message) -> None:
        match message:
            case {"ask": int(number)}:
                with self._asking:
                    answer = self._forget_asked(number)
                self._ask_more()
                if answer is None:
                    return  # nobody waits for it any more
                if "error" in message:
                    answer.set_exception(Refused(message["error"]["message"], message["error"]["code"]))
                else:
                    answer.set_result(message["value"])
            case {"cancel": int(request)}:
                self._cancel(request)
            case _:
                self._take(message)

    def _let_go(self) -> None:
        """In a process that the module forked: the pipe is not for it."""
        self._is_copy = True
        self._pipe.close()


def _end() -> NoReturn:
    """The bridge is gone, or can't be reached: so are we, and all that the module has started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
