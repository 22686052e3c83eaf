"""The Debian package: the one file, its systemd unit, an observe-only policy and the hook for ZED.

A .deb is an `ar` archive of three members (deb(5)), so the standard library is enough. The same source gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from agents import VERSION, bell, places
from agents.packaging import zipapp

NAME = f"slotlight-agent_{VERSION}_all.deb"
CONTROL = f"""\
Package: slotlight-agent
Version: {VERSION}
Architecture: all
Maintainer: Slotlight <agent@slotlight.invalid>
Section: admin
Priority: optional
Depends: python3 (>= 3.9)
Recommends: openssl, zfsutils-linux, lsscsi, smartmontools, sg3-utils, sdparm
Description: reports what a ZFS storage node says, and does what it is allowed to
 The agent of the Slotlight runbook portal. It observes only, until the node's
 own {places.POLICY} says otherwise.
"""
POSTINST = f"""\
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
install -d -m 0700 {places.FOLDER}
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable {places.RELAY_UNIT_NAME} {places.UNIT_NAME} >/dev/null 2>&1
  # ZED looks into its folder only when it starts.
  [ ! -e {places.ZED_HOOK} ] || systemctl try-restart {places.ZED_UNIT_NAME} ||
    echo "slotlight-agent: ZED did not restart, so it rings the agent only after its next start." >&2
  [ ! -f {places.FOLDER}/identity.json ] || systemctl restart {places.RELAY_UNIT_NAME} {places.UNIT_NAME}
fi
[ -f {places.FOLDER}/identity.json ] || echo "slotlight-agent: the portal's Add node page has the line that enrols this node."
"""
PRERM = f"""\
#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
[ ! -d /run/systemd/system ] || systemctl disable --now {places.UNIT_NAME} {places.RELAY_UNIT_NAME} >/dev/null 2>&1
"""


def build(root: Path) -> tuple[Path, str]:
    """Write dist/slotlight-agent_VERSION_all.deb and return it with its SHA-256."""
    target = root / "dist" / NAME
    target.parent.mkdir(exist_ok=True)
    data = content(root)
    target.write_bytes(data)
    return target, hashlib.sha256(data).hexdigest()


def content(root: Path) -> bytes:
    """The package itself."""
    files = {
        places.DEB_PROGRAM: (zipapp.content(root), 0o755),
        places.DEB_UNIT: (places.unit(places.DEB_PROGRAM).encode(), 0o644),
        places.DEB_RELAY_UNIT: (places.relay_unit(places.DEB_PROGRAM).encode(), 0o644),
        places.POLICY: (places.OBSERVE.encode(), 0o644),
        places.ZED_HOOK: (bell.hook(places.FOLDER).encode(), 0o755),
    }
    sums = "".join(f"{hashlib.md5(data, usedforsecurity=False).hexdigest()}  {path[1:]}\n" for path, (data, _) in files.items())
    control = {
        "/control": (CONTROL.encode(), 0o644),
        "/conffiles": (f"{places.POLICY}\n{places.ZED_HOOK}\n".encode(), 0o644),
        "/md5sums": (sums.encode(), 0o644),
        "/postinst": (POSTINST.encode(), 0o755),
        "/prerm": (PRERM.encode(), 0o755),
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
