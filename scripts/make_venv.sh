#!/bin/sh
# Lay a virtual environment with the package and its pinned dependencies: scripts/make_venv.sh FOLDER
# On an existing one it only brings the packages up to date.
set -eu

folder=$1

if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(sh scripts/find_python.sh)
    if ! "$python" -c "import ensurepip" 2>/dev/null; then
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        if ! sh scripts/apt_install.sh "$package" || ! "$python" -c "import ensurepip" 2>/dev/null; then
            echo "$python has no ensurepip, which makes virtual environments: install $package (Debian, Ubuntu) or another Python." >&2
            exit 1
        fi
    fi
    "$python" -m venv --clear "$folder"
fi

echo "Installing the Python packages into $folder." >&2
"$folder/bin/python" -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
