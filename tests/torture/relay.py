"""Stands for a browser: starts one behind a debugging pipe of its own, and hands bytes through.

At SIGUSR1 it closes its end of the pipe and lets the browser live on.

Usage: relay.py BROWSER [ARGUMENT]...
"""

import os
import signal
import subprocess
import sys
import threading

TO_3_AND_4 = ("/bin/sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null')


def copy(source: int, destination: int) -> None:
    try:
        while data := os.read(source, 65536):
            view = memoryview(data)
            while view:
                view = view[os.write(destination, view) :]
        os.close(destination)
    except OSError:
        pass


def main() -> int:
    def hang_up(*_: object) -> None:
        os.close(3)
        os.close(4)

    signal.signal(signal.SIGUSR1, hang_up)
    # The browser itself is told nothing of this.
    browser_reads, to_browser = os.pipe()
    from_browser, browser_writes = os.pipe()
    browser = subprocess.Popen([*TO_3_AND_4, *sys.argv[1:]], stdin=browser_reads, stdout=browser_writes)
    os.close(browser_reads)
    os.close(browser_writes)
    for ends in ((3, to_browser), (from_browser, 4)):
        threading.Thread(target=copy, args=ends, daemon=True).start()
    while True:
        try:
            # In slices, so that the signal is taken while the browser lives.
            return browser.wait(0.02)
        except subprocess.TimeoutExpired:
            continue


if __name__ == "__main__":
    sys.exit(main())
