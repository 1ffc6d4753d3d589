#!/bin/sh
# Install one Debian package: scripts/apt_install.sh PACKAGE
# Exit code 2: not possible here (no apt-get, or no right to use it); nothing was printed.
set -eu

command -v apt-get >/dev/null 2>&1 || exit 2

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || exit 2
    # Without a terminal nobody can type a password.
    [ -t 0 ] || sudo -n true 2>/dev/null || exit 2
    as_root=sudo
fi

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qq "$@" >>"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing $1 with apt-get (this takes a minute, once)." >&2
apt update || true # one broken source need not matter: the installation decides
apt install -y --no-install-recommends "$1" && exit
tail -n 5 "$log" >&2
exit 1
