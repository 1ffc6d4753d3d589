#!/bin/sh
# Make sure that there is a Chromium to drive. Quick when there is.
set -eu

is_there() {
    for name in chromium google-chrome google-chrome-stable chromium-browser chrome \
        microsoft-edge microsoft-edge-stable brave-browser chromium-headless-shell; do
        command -v "$name" >/dev/null 2>&1 && return
    done
    for folder in /Applications "${HOME:-}/Applications"; do
        for app in "Google Chrome" Chromium "Microsoft Edge" "Brave Browser"; do
            [ -x "$folder/$app.app/Contents/MacOS/$app" ] && return
        done
    done
    return 1
}

if [ -n "${PAGEBRIDGE_BROWSER:-}" ]; then
    command -v "$PAGEBRIDGE_BROWSER" >/dev/null 2>&1 && exit
    echo "PAGEBRIDGE_BROWSER names $PAGEBRIDGE_BROWSER, which is not a program: correct it or unset it." >&2
    exit 1
fi

# Tests use a headless shell as well, where the system has a package of it.
ensure_shell() {
    command -v chromium-headless-shell >/dev/null 2>&1 && return
    apt-cache show chromium-headless-shell >/dev/null 2>&1 || return 0
    sh scripts/apt_install.sh chromium-headless-shell || echo "Tests go without chromium-headless-shell." >&2
}

if is_there || { sh scripts/apt_install.sh chromium && is_there; }; then
    ensure_shell
    exit
fi
echo "No Chromium was found: install Chromium or Chrome (apt-get install chromium, brew install --cask chromium, or your system's own way), or set PAGEBRIDGE_BROWSER to one." >&2
exit 1
