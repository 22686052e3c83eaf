"""The Debian package: the one file, its systemd unit, an observe-only policy and the hook for ZED.

A .deb is an `ar` archive of three members (deb(5)), so the standard library is enough. The same source gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from agents.host import paths
from agents.orders import journal
from agents.packaging import zipapp
from agents.portal import last_contact
from agents.service import agent, zed_hook
from agents.trust import identity, known_log

NAME = "slotlight-agent.deb"  # the same for every build: what fetches it need not know which is the newest
CONTROL = f"""\
Package: slotlight-agent
Version: %(version)s
Architecture: all
Maintainer: Slotlight <agent@slotlight.invalid>
Section: admin
Priority: optional
Depends: python3 (>= 3.9)
Recommends: openssl, zfsutils-linux, lsscsi, smartmontools, sg3-utils, sdparm
Description: reports what a ZFS storage node shows, and does what it is allowed to
 The agent of the Slotlight runbook portal. It observes only, until the node's
 own {paths.POLICY} says otherwise.
"""
# Each name below $DPKG_ROOT, for `dpkg --root`, where dpkg changes no root directory for scripts.
POSTINST = f"""\
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
install -d -m 0700 "$DPKG_ROOT{paths.FOLDER}"
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then
  systemctl daemon-reload
  systemctl enable {paths.RELAY_UNIT_NAME} {paths.UNIT_NAME} >/dev/null 2>&1
  # ZED looks into its folder only when it starts.
  [ ! -e "$DPKG_ROOT{paths.ZED_HOOK}" ] || systemctl try-restart {paths.ZED_UNIT_NAME} ||
    echo "slotlight-agent: ZED did not restart, so it rings the agent only after its next start." >&2
  [ ! -f "$DPKG_ROOT{paths.FOLDER}/{identity.FILE}" ] || systemctl restart {paths.RELAY_UNIT_NAME} {paths.UNIT_NAME}
fi
[ -f "$DPKG_ROOT{paths.FOLDER}/{identity.FILE}" ] ||
  echo "slotlight-agent: the portal's Add node page has the line that enrols this node."
[ ! -e "$DPKG_ROOT{paths.PROGRAM}" ] ||
  echo "slotlight-agent: the agent that the install line brought is what runs here still. \
Remove {paths.PROGRAM}, {paths.UNIT} and {paths.RELAY_UNIT}, then reboot or install this package again." >&2
"""
PRERM = f"""\
#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
[ ! -d "$DPKG_ROOT/run/systemd/system" ] || systemctl disable --now {paths.UNIT_NAME} {paths.RELAY_UNIT_NAME} >/dev/null 2>&1
"""
# What is the agent's own is named: a portal may keep its data beside it. The journal says from the node's own side what was done to the
# pools here, so no routine act ends it. It holds no secret, and an agent that is enrolled here later goes on with it.
WRITTEN = (identity.FILE, known_log.FILE, last_contact.FILE)
FORGOTTEN = (*WRITTEN, *(f"{name}.new" for name in WRITTEN), "identity.new", agent.SPOOL, agent.LOCK, zed_hook.NAME)
POSTRM = f"""\
#!/bin/sh
set -e
[ ! -d "$DPKG_ROOT/run/systemd/system" ] || systemctl daemon-reload
[ "$1" = purge ] || exit 0
rm -rf "$DPKG_ROOT{paths.CONFIG}" "$DPKG_ROOT{paths.CA}" "$DPKG_ROOT{paths.RUN}"
[ ! -d "$DPKG_ROOT{paths.ETC}" ] || rmdir --ignore-fail-on-non-empty "$DPKG_ROOT{paths.ETC}"
[ -d "$DPKG_ROOT{paths.FOLDER}" ] || exit 0
cd "$DPKG_ROOT{paths.FOLDER}"
rm -rf {" ".join(FORGOTTEN)}
cd /
rmdir --ignore-fail-on-non-empty "$DPKG_ROOT{paths.FOLDER}"
[ ! -e "$DPKG_ROOT{paths.FOLDER}/{journal.FILE}" ] ||
  echo "slotlight-agent: key and configuration are gone. {paths.FOLDER}/{journal.FILE} stays: it says what was done to the pools of this node."
"""


def build(root: Path) -> tuple[Path, str]:
    """Write dist/slotlight-agent.deb and return it with its SHA-256."""
    target = root / "dist" / NAME
    target.parent.mkdir(exist_ok=True)
    data = content(root)
    target.write_bytes(data)
    return target, hashlib.sha256(data).hexdigest()


def content(root: Path) -> bytes:
    """The package itself."""
    files = {
        paths.DEB_PROGRAM: (zipapp.content(root), 0o755),
        paths.DEB_UNIT: (paths.unit(paths.DEB_PROGRAM).encode(), 0o644),
        paths.DEB_RELAY_UNIT: (paths.relay_unit(paths.DEB_PROGRAM).encode(), 0o644),
        paths.POLICY: (paths.OBSERVE.encode(), 0o644),
        paths.ZED_HOOK: (zed_hook.hook(paths.FOLDER).encode(), 0o755),
    }
    sums = "".join(f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {path[1:]}\n" for path, (data, _) in files.items())
    control = {
        "/control": ((CONTROL % {"version": zipapp.version_of(root)}).encode(), 0o644),
        "/conffiles": (f"{paths.POLICY}\n{paths.ZED_HOOK}\n".encode(), 0o644),
        "/md5sums": (sums.encode(), 0o644),
        "/postinst": (POSTINST.encode(), 0o755),
        "/prerm": (PRERM.encode(), 0o755),
        "/postrm": (POSTRM.encode(), 0o755),
    }
    members = (("debian-binary", b"2.0\n"), ("control.tar.gz", _tar(control)), ("data.tar.gz", _tar(files)))
    return b"!<arch>\n" + b"".join(_member(name, data) for name, data in members)


def _member(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
    return header.encode("ascii") + data + (b"\n" if len(data) % 2 else b"")


def _tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        folders = sorted({str(parent) for path in files for parent in Path(path).parents if str(parent) != "/"})
        for folder in folders:
            archive.addfile(_entry(folder, 0o755, tarfile.DIRTYPE))
        for path, (data, mode) in files.items():
            entry = _entry(path, mode, tarfile.REGTYPE)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), 9, mtime=0)


def _entry(path: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(f".{path}")
    entry.mode, entry.type, entry.uname, entry.gname = mode, kind, "root", "root"
    return entry
