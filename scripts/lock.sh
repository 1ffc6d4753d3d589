#!/bin/sh
# Resolve every dependency anew and pin it: constraints.txt for Python, package-lock.json for npm, here and in bench.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The oldest Python that the package supports needs the most packages.
"$(PYTHON=${PYTHON:-"python3.11 python3"} sh scripts/find_python.sh)" -m venv "$work/venv"
bin=$work/venv/bin
"$bin/python" -m pip install -qq --disable-pip-version-check -e '.[dev]'
"$bin/python" -m pip freeze --exclude-editable >"$work/constraints.txt"
# A path, an address or a local version would be of use on one machine only.
if grep -Ev '^[A-Za-z0-9._-]+==[A-Za-z0-9.!]+$' "$work/constraints.txt" >&2; then
    echo "These lines do not pin a published release; constraints.txt is unchanged." >&2
    exit 1
fi
cp "$work/constraints.txt" constraints.txt

for folder in . bench; do
    mkdir "$work/npm"
    cp "$folder/package.json" "$work/npm/"
    (cd "$work/npm" && PATH="$bin:$PATH" npm install --package-lock-only --omit-lockfile-registry-resolved \
        --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error)
    if grep '"resolved"' "$work/npm/package-lock.json" >&2; then
        echo "These lines name a registry; $folder/package-lock.json is unchanged." >&2
        exit 1
    fi
    cp "$work/npm/package-lock.json" "$folder/package-lock.json"
    rm -r "$work/npm"
done
