"""Which source a command on a prompt line is, and which node the prompt names."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from agents.collectors import COLLECTORS


@dataclass(frozen=True)
class Asked:
    """A command somebody typed. `source` is "" when its output tells us nothing."""

    words: tuple[str, ...]
    source: str
    key: str = ""
    node: str = ""


_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_PROMPTS = (
    re.compile(rf"\[?[A-Za-z0-9._-]+@({_HOST})[^#$%>]*[#$%>] ?(.*)"),  # root@oss01:~#, [root@oss01 ~]#
    re.compile(rf"({_HOST})(?::\S*|[~]\S*)? ?[#%] ?(.*)"),  # oss01# , oss01:~ #
    re.compile(r"()[#$%>] +(.*)"),
    re.compile(r"()((?:sudo +)?(?:/usr/s?bin/|/s?bin/)?(?:zpool (?:status|import|list|events|history|iostat)|zdb|lsscsi|smartctl)\b.*)"),
)


def asked(line: str) -> Asked | None:
    """The command on a prompt line, or of a line that is a command we know; None for anything else."""
    for form in _PROMPTS:
        found = form.fullmatch(line.strip())
        words = _words(found.group(2)) if found else ()
        if found and words and re.fullmatch(r"[A-Za-z_][\w.+-]*", words[0]):
            return Asked(words, *_source(words), found.group(1))
    return None


def _words(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    while words and words[0] == "sudo":
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
    return (words[0].rsplit("/", 1)[-1], *words[1:]) if words else ()


def _source(words: tuple[str, ...]) -> tuple[str, str]:
    tool, *rest = words
    letters = "".join(word[1:] for word in rest if re.fullmatch("-[A-Za-z]+", word))
    others = [word for word in rest if not word.startswith("-")]
    if tool == "zpool":
        return _known(_zpool(others[0] if others else "", letters)), ""
    if tool == "zdb" and "l" in letters and others:
        return "zdb_label", device(others[-1])
    if tool == "smartctl" and others and "x" in letters:
        return _known("smart"), device(others[-1])
    return {"lsscsi": "lsscsi", "dmesg": _known("kernel_log")}.get(tool, ""), ""


def _zpool(verb: str, letters: str) -> str:
    if verb == "status":
        return "zpool_status_json" if "j" in letters else "zpool_status_guid" if "g" in letters else "zpool_status"
    return "zpool_import" if verb == "import" else ""


def _known(source: str) -> str:
    return source if source in COLLECTORS else ""


def device(path: str) -> str:
    """What a device is called in a capture's key: "sda1" of "/dev/sda1"; a by-id link keeps its own name."""
    return path.rsplit("/", 1)[-1]
