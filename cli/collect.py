"""A host without an agent, read over the person's own ssh and brought to the portal. Nothing is left on the host.

What the portal does not take is kept in a file that its person alone can read, and the command that brings it again is shown.
"""

import argparse
import os
import pkgutil
import re
import selectors
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from cli.looks import Ask, show_found
from cli.problems import DONE, DOWN, REFUSED, USAGE, Trouble
from cli.show import clean, pairs, text, when

SCRIPT = "slotlight-collect"
IN_THE_TREE = Path(__file__).resolve().parent.parent / "workflows" / "snapshot" / SCRIPT
BYTES_MAX = 64 * 1024 * 1024  # what the portal takes
NOISE_BYTES_MAX = 256 * 1024  # what a login shell may print before the archive
SECONDS_MAX = 900
HOST_SECONDS = 600  # after which the script stops by itself
CHUNK = 1 << 16
_MARK = re.compile(rb"(?:\A|\n)slotlight-collect-archive ([0-9]{1,9}) ([0-9]{1,12})\n")


def collect(asked: argparse.Namespace, portal: Ask) -> int:
    if bool(asked.host) == bool(asked.file):
        raise Trouble(
            "Give a host to read, or an archive with --from.", "slotlight collect root@HOST, or slotlight collect --from FILE", USAGE
        )
    door = portal()  # before the host is asked: without a token nothing could be brought
    data = _of_file(asked.file) if asked.file else _of_host(asked)
    try:
        found = door.send("snapshots", data, host=asked.name, taken_at=asked.taken_at, anew="true" if asked.anew else "")
    except Trouble as trouble:
        raise _kept(asked, data, trouble) from None
    show_found(asked, found, lambda: shown(found))
    return DONE


def script() -> bytes:
    """From the one file that is shipped, else from the checkout."""
    try:
        shipped = pkgutil.get_data("cli", SCRIPT)
    except OSError:
        shipped = None
    return shipped or IN_THE_TREE.read_bytes()


def _of_file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise Trouble(f"{name} cannot be read: {error.strerror}.", "Give the path of an archive.", USAGE) from None
    if len(data) > BYTES_MAX:
        raise Trouble(
            f"{name} has more than {BYTES_MAX >> 20} MiB.", "Take the outputs of ZFS and disks out of it, and bring those alone.", USAGE
        )
    return data


def _of_host(asked: argparse.Namespace) -> bytes:
    if asked.host.startswith("-"):
        raise Trouble(f"{asked.host} is no host.", "slotlight collect root@HOST", USAGE)
    remote = f"{'sudo -n ' if asked.sudo else ''}sh -s -- -t {HOST_SECONDS}"
    argv = [*shlex.split(asked.ssh), "-T", "--", asked.host, remote]
    try:
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise Trouble(f"{argv[0]} cannot be started: {error.strerror}.", "Name your own with --ssh.", USAGE) from None
    try:
        data = _exchange(child, script())
    finally:
        child.kill() if child.poll() is None else None
        code = child.wait()
    return _archive_in(data, asked.host, code)


def _exchange(child: "subprocess.Popen[bytes]", words: bytes) -> bytes:
    """Give the script and take what comes, both bounded. Raises Trouble."""
    into, out, data, until = _pipe(child.stdin), _pipe(child.stdout), bytearray(), time.monotonic() + SECONDS_MAX
    os.set_blocking(into.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(into, selectors.EVENT_WRITE)
        selector.register(out, selectors.EVENT_READ)
        while out in (key.fileobj for key in selector.get_map().values()):
            if time.monotonic() > until:
                raise Trouble(
                    f"The host was not done after {SECONDS_MAX} s.", "Run slotlight-collect on the host itself, with -o FILE.", DOWN
                )
            for key, _ in selector.select(1.0):
                if key.fileobj is into:
                    words = _write(into, words, selector)
                else:
                    _read(out, data, selector)
    return bytes(data)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _write(into: IO[bytes], words: bytes, selector: selectors.BaseSelector) -> bytes:
    try:
        words = words[os.write(into.fileno(), words[:CHUNK]) :]
    except BlockingIOError:
        return words
    except BrokenPipeError:
        words = b""  # ssh ended; its exit code says why
    if not words:
        selector.unregister(into)
        into.close()
    return words


def _read(out: IO[bytes], data: bytearray, selector: selectors.BaseSelector) -> None:
    piece = os.read(out.fileno(), CHUNK)
    if not piece:
        selector.unregister(out)
    data += piece
    if len(data) > BYTES_MAX + NOISE_BYTES_MAX:
        raise Trouble(
            f"The host sent more than {BYTES_MAX >> 20} MiB, and no more was taken.", "Run slotlight-collect there with -o FILE.", DOWN
        )


def _archive_in(data: bytes, host: str, code: int) -> bytes:
    """Without what the login shell printed around it."""
    found = _MARK.search(data, 0, NOISE_BYTES_MAX)
    if found is None:
        first = clean(data[:200].decode("utf-8", "replace").strip().split("\n")[0])
        why = f" It printed: {first}" if first else ""
        raise Trouble(f"{host} sent no archive; ssh ended with exit code {code}.{why}", f"Try: ssh {shlex.quote(host)} sh -c true", DOWN)
    body = data[found.end() : found.end() + int(found.group(2))]
    if len(body) < int(found.group(2)):
        raise Trouble(f"The archive of {host} was cut short: {len(body)} of {int(found.group(2))} bytes came.", "Try it again.", DOWN)
    return body


def _kept(asked: argparse.Namespace, data: bytes, trouble: Trouble) -> Trouble:
    """The same trouble, with where the archive is and what brings it again."""
    code = REFUSED if trouble.kind == "not-taken" else trouble.code
    path = Path(asked.file) if asked.file else _save(asked.host, data)
    again = shlex.join(["slotlight", "collect", "--from", str(path), *_options(asked)])
    print(f"{clean(path)} holds what was read. To bring it again:\n  {clean(again)}", file=sys.stderr)  # whole, so that it can be copied
    return Trouble(trouble.text, trouble.do, code, trouble.verdicts, trouble.kind)


def _options(asked: argparse.Namespace) -> list[str]:
    words = [word for name in ("name", "taken_at") if (value := getattr(asked, name)) for word in (f"--{name.replace('_', '-')}", value)]
    return [*words, "--anew"] if asked.anew else words


def _save(host: str, data: bytes) -> Path:
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "slotlight"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9._-]", "_", host.rpartition("@")[2])[:64]
    path = folder / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%S}.slotlight"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    return path


def shown(found: dict[str, Any]) -> str:
    head = {
        "Node": found["node"],
        "Form": found["form"],
        "Taken": when(found["taken_at"]),
        "Archive": found["archive"],
        "Holds": ", ".join(found["holds"]),
    }
    lines = [pairs(head)]
    lines += ["" if found["is_new"] else "This archive was brought before. Nothing was changed."]
    lines += [text(f"lacks {one['what']}: {one['why']}") for one in found["lacks"]]
    lines += [f"{found['dropped']} other files of the archive are not read here and were dropped."] if found["dropped"] else []
    lines.append(f"How it stands: slotlight nodes {clean(found['node'])}")
    return "\n".join(line for line in lines if line)
