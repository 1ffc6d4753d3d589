#!/bin/sh
# Print the name of a Python that is new enough; PYTHON=... says which one to take.
set -eu

# One that can make a virtual environment comes first: Debian keeps ensurepip in a package of its own.
for needs in ensurepip venv; do
    for name in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        if "$name" -c "import sys, $needs; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1; then
            echo "$name"
            exit
        fi
    done
done
echo "Python 3.11 or newer was not found: install it, or name one with PYTHON=/path/to/python3." >&2
exit 1
