"""A host for the script: a tree of files and a folder of tools, made of what a twin answers, and the script run there under one shell."""

import hashlib
import io
import os
import shlex
import subprocess
import tarfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.collectors import COLLECTORS
from agents.host.host import Ran
from workflows.snapshot import recorded

SCRIPT = Path(recorded.__file__).with_name("slotlight-collect")
SHELLS: Mapping[str, tuple[str, ...]] = {
    "dash": ("dash",),
    "bash": ("bash",),
    "busybox ash": ("busybox", "sh"),
    "ksh93": ("ksh",),
    "mksh": ("mksh",),
}


class Traced:
    """A host that notes what it is asked, and what it answers."""

    def __init__(self, host) -> None:
        self._host = host
        self.ran: dict[tuple[str, ...], tuple[Ran, float]] = {}
        self.texts: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.listed: set[str] = set()

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        ran = self._host.run(argv, timeout_seconds)
        self.ran[tuple(argv)] = (ran, timeout_seconds)
        return ran

    def read(self, path: str) -> bytes:
        self.texts[path] = self._host.read(path)
        return self.texts[path]

    def list(self, pattern: str) -> tuple[str, ...]:
        found = self._host.list(pattern)
        self.listed |= set(found)
        return found

    def link(self, path: str) -> str:
        self.links[path] = self._host.link(path)
        return self.links[path]

    def seen_awake(self, disk: str) -> bool:
        return True  # as the schedule knows it of a disk that answered SMART a moment ago

    def __getattr__(self, name: str):
        return getattr(self._host, name)


def traced(host) -> tuple[Traced, list]:
    """What every collector asks of a host, and its captures."""
    seen = Traced(host)
    found = []
    for module in COLLECTORS.values():
        if hasattr(module, "keys"):
            found += [module.collect_one(seen, key) for key in module.keys(seen)]
        else:
            found += module.collect(seen)
    return seen, found


def build(folder: Path, seen: Traced) -> None:
    """The tree and the tools."""
    root = folder / "root"
    for path, target in seen.links.items():
        real = root / target.lstrip("/")
        if path.startswith("/dev/disk/"):
            real.parent.mkdir(parents=True, exist_ok=True)
            real.touch()
        else:
            real.mkdir(parents=True, exist_ok=True)
    for path, target in sorted(seen.links.items()):
        at = root / path.lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(at) and os.path.realpath(at) != os.path.realpath(root / target.lstrip("/")):
            at.symlink_to(os.path.realpath(root / target.lstrip("/")))
    for path, data in seen.texts.items():
        at = root / path.lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(data)
    for path in sorted(seen.listed):
        at = root / path.lstrip("/")
        if not os.path.lexists(at):
            at.mkdir(parents=True, exist_ok=True)
    tools(folder / "tools", {argv: ran for argv, (ran, _) in seen.ran.items()})


TOOL = """#!/bin/sh
echo "${0##*/} $*" >>"${0%/*}/asked"
IFS=@
words=$*
unset IFS
case $words in
@cases
*) key=$(for word in "$@"; do printf '%s\\n' "$word"; done | md5sum | cut -c1-32) ;;
esac
here=${0%/*}/answers/${0##*/}.$key
[ -e "$here.hangs" ] && exec sleep 600
[ -e "$here.out" ] || { echo "unexpected: $*" >&2; exit 99; }
read -r code <"$here.code"
[ "$code" != 0 ] || [ -s "$here.err" ] || exec cat "$here.out"
[ -s "$here.out" ] && cat "$here.out"
[ -s "$here.err" ] && cat "$here.err" >&2
exit "$code"
"""


def tools(folder: Path, answers: Mapping[tuple[str, ...], Ran]) -> None:
    """Each finds its answer by a table of the words that it is known to be asked with: a process for each word and its digest takes long."""
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    cases: dict[str, list[str]] = {}
    for argv, ran in answers.items():
        if ran.why == "not found":
            continue
        cases.setdefault(argv[0], []).append(f"{shlex.quote('@'.join(argv[1:]))}) key={_key(argv)} ;;")
        place(folder, argv, ".out").write_bytes(ran.stdout)
        place(folder, argv, ".err").write_bytes(ran.stderr)
        place(folder, argv, ".code").write_text(f"{ran.exit_code}\n")
    for name, lines in cases.items():
        (folder / name).write_text(TOOL.replace("@cases", "\n".join(lines)))
        (folder / name).chmod(0o755)


def _key(argv: Sequence[str]) -> str:
    return hashlib.md5("".join(f"{word}\n" for word in argv[1:]).encode(), usedforsecurity=False).hexdigest()


def place(folder: Path, argv: Sequence[str], kind: str) -> Path:
    return folder / "answers" / f"{argv[0]}.{_key(argv)}{kind}"


def collect(folder: Path, shell: str, *, noise: str = "", seconds: int = 120, script: str = "") -> tuple[bytes, float]:
    """What the script writes to its output under this shell, and how long that took."""
    standard = "/usr/bin:/bin" if not (folder / "bin").exists() else str(folder / "bin")
    environment = {
        "SLOTLIGHT_COLLECT_ROOT": str(folder / "root"),
        "SLOTLIGHT_COLLECT_PATH": f"{folder / 'tools'}:{standard}",
        "SLOTLIGHT_COLLECT_TMP": str(folder),
        "PATH": "/usr/bin:/bin",
    }
    path = folder / "script"
    path.write_text(script or SCRIPT.read_text())
    begun = time.monotonic()
    line = f"{noise}{shlex.join(SHELLS[shell])} -s -- -t {seconds} < {shlex.quote(str(path))}"
    ran = subprocess.run(("/bin/sh", "-c", line), env=environment, capture_output=True, timeout=seconds + 60, check=True)
    assert not ran.stderr, ran.stderr
    return ran.stdout, time.monotonic() - begun


def parts(data: bytes) -> dict[str, bytes]:
    """The files of what the script wrote."""
    head = data.index(b"slotlight-collect-archive 1 ")
    line, rest = data[head:].split(b"\n", 1)
    body = rest[: int(line.split()[-1])]
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}


def archive(seen: Traced, *, at: int, host: str, hostid: str, boot_id: str, change=None, system: str = "Linux") -> bytes:
    """What the script writes of such a host, begun `at` that second and made without running it. `change` may alter the three files before they are packed."""
    answers, lines = b"", []
    for argv, (ran, limit) in seen.ran.items():
        end = "answered" if not ran.why else "no-tool" if ran.why == "not found" else "late"
        code = "-" if ran.exit_code is None else str(ran.exit_code)
        lines.append("\t".join(("ask", end, code, "0", str(int(limit)), str(len(ran.stdout)), str(len(ran.stderr)), *argv)))
        answers += ran.stdout + ran.stderr
    files = [f"-{path}" for path in sorted(seen.listed)]
    files += [f"@{path}\t{target}" for path, target in seen.links.items()]
    for path, data in seen.texts.items():
        if path.endswith(("/vpd_pg80", "/vpd_pg83", "/hostid")):
            files += [f"#{path}", f"| {data.hex(' ')}"]
        else:
            rows = data.decode().split("\n")
            files += [f"={path}", *(f"|{row}" for row in (rows[:-1] if rows[-1] == "" else rows))]
    text = "".join(f"{line}\n" for line in files).encode()
    about = {"host": host, "hostid": hostid, "boot_id": boot_id, "system": system, "uid": "0", "began": str(at), "ended": str(at + 2)}
    head = ["slotlight-collect\t1", *(f"{name}\t{value}" for name, value in about.items())]
    manifest = "".join(f"{line}\n" for line in (*head, *lines, f"end\t{len(answers)}\t{len(text)}")).encode()
    held = {recorded.FILES: text, recorded.ANSWERS: answers, recorded.MANIFEST: manifest}
    return packed(change(held) if change else held)


def packed(files: Mapping[str, bytes], mode: str = "w:gz", **more) -> bytes:
    """A tar of these files."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), int(more.get("mtime", 0))
            tar.addfile(info, io.BytesIO(data))
    return held.getvalue()
