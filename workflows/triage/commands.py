"""Which source a command on a prompt line is, and which node the prompt names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.kstat_pools import ROOT
from agents.collectors.parameters import FOLDERS, VALUES
from workflows import pasted

NOTHING = ("", "")


@dataclass(frozen=True)
class Asked:
    """A command somebody typed. `source` is "" when its output tells us nothing; `hint` then says what to ask instead."""

    words: tuple[str, ...]
    source: str
    key: str = ""
    node: str = ""
    path: str = ""  # the one file whose lines it prints, without saying so in each line; or the command, where the source names that
    hint: str = ""
    question: str = ""  # what was asked, where the answer cannot be read without it


_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_ZPOOL = "zpool (?:status|import|list|get|events|history|iostat)"
_TOOLS = (
    rf"(?:{_ZPOOL})\b.*|lsscsi(?: +-.*)?|(?:zdb|smartctl|sg_ses|sg_logs|sdparm) +(?:-|/dev/).*|sysctl +(?:-|vfs\.zfs).*"
    r"|(?:zfs|zpool) (?:version|--version|-V)|hostid|mdb -kw?"
)
_PLACES = "|".join(map(re.escape, (ROOT, VALUES, *FOLDERS)))
_FILES = rf"(?:cat|grep -H (?:\S+ )?|tail (?:-n ?\d+ )?|head (?:-n ?\d+ )?) ?(?:{_PLACES})/\S+(?: +/\S+)*"
_MDB = re.compile(r"(?:echo|printf) +(\w+/[A-Z]\S*) *\| *mdb -kw?")
_INSIDE_MDB = re.compile(r"\w+/[A-Z]\w*|\w+ *::print(?: -\w+)?|::\w+|\$q")  # typed at its prompt
_PROMPTS = (
    re.compile(rf"\[?[A-Za-z0-9._-]+@({_HOST})[^#$%>]*[#$%>] ?(.*)"),  # root@oss01:~#, [root@oss01 ~]#
    re.compile(rf"({_HOST})(?::\S*|[~]\S*)? ?[#%] ?(.*)"),  # oss01# , oss01:~ #
    re.compile(r"()[#$%>] +(.*)"),
    re.compile(rf"()((?:sudo +)?(?:(?:/usr/s?bin/|/s?bin/)?(?:{_TOOLS})|dmesg(?: +[|-].*)?|{_FILES}|echo .*\| *mdb -kw?))"),
)


def asked(line: str) -> Asked | None:
    """The command on a prompt line, or of a line that is a command we know; None for anything else."""
    for form in _PROMPTS:
        found = form.fullmatch(line.strip())
        if found and _INSIDE_MDB.fullmatch(found.group(2)):
            return None
        words = _words(found.group(2)) if found else ()
        if found and words and re.fullmatch(r"[A-Za-z_][\w.+-]*", words[0]):
            return _asked(words, found.group(1))
    words = _words(line.strip()) if pasted.names_a_tool(line) else ()
    return _asked(words, "") if words and pasted.is_bare_command(words[0], words[1:]) else None


_WRAPPERS = ("sudo", "time", "timeout", "nohup", "env", "nice", "watch")


def _words(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    while words and (words[0] in _WRAPPERS or "=" in words[0]):
        takes = words[0] == "timeout"
        words = words[1:]
        while words and (words[0].startswith("-") or (takes and words[0][0].isdigit())):
            words = words[1:]
    return (words[0].rsplit("/", 1)[-1], *words[1:]) if words else ()


def _asked(words: tuple[str, ...], node: str) -> Asked:
    of_mdb = _MDB.fullmatch(" ".join(words))
    if of_mdb:
        return Asked(words, "mdb", node=node, question=of_mdb.group(1))
    tool, *rest = words[: words.index("|")] if "|" in words[1:] else words
    if any(word.endswith(";") or word in ("&&", ";") for word in words):
        return Asked(words, "", node=node)  # several commands at once: their outputs are told apart by how they begin
    letters = "".join(word[1:] for word in rest if re.fullmatch("-[A-Za-z]+", word))
    path = _printed(tool, rest) or _ANSWERS.get(tool if tool == "hostid" else " ".join((tool, *rest)), "")
    source, key = kernel_file(path) if path else _source(tool, rest, letters)
    source = source or pasted.asked(tool, rest)
    hint = (
        ""
        if source
        else _DESTROYED
        if (tool, "D" in letters) == ("zpool", True) and "import" in rest
        else _HINTS.get(" ".join((tool, *_operands(rest, "")[:1])) if tool == "zpool" else tool, "")
    )
    return Asked(words, source, key, node, path if source in _BY_PATH else "", hint)


_DESTROYED = "It lists pools that were destroyed on purpose; `zpool import` lists the others."
_BY_PATH = ("kstat_pools", "kstat_txgs", "kstat_dmu_tx", "parameters", "node")  # each of their lines says where it is from
_VERSION = "zpool --version"
_ANSWERS = {f"{tool} {how}": _VERSION for tool in ("zfs", "zpool") for how in ("version", "--version", "-V")} | {"hostid": "hostid"}
_HINTS = {
    "zpool status": "It leaves out what is well, and a tree without its vdevs misleads; `zpool status -P -p` is read.",
    "zpool list": "Its numbers are rounded; `zpool list -v -p -H` is read.",
    "zpool iostat": "Its numbers are rounded; `zpool iostat -v -l -H -p` is read, and `zpool iostat -w`.",
    "zpool events": "It says too little; `zpool events -v` is read.",
    "zpool import": "It is no list of pools; `zpool import` without a name is.",
    "dmesg": "Its times are computed from the clock of today; `dmesg` without -T is read.",
    "journalctl": "`dmesg` without -T is read: its lines begin with the kernel's own stamp.",
    "zdb": "`zdb -l DEVICE`, `zdb -lu DEVICE` and `zdb -C` are read.",
}


def _source(tool: str, rest: Sequence[str], letters: str) -> tuple[str, str]:
    if tool == "zpool":
        return _zpool(rest, letters), ""
    if tool == "zdb":
        return _zdb(_operands(rest, "UpotxI"), letters)
    if tool == "dmesg":
        return ("", "") if "T" in letters or "--ctime" in rest else ("kernel_log", "")
    if tool in ("lsscsi", "sysctl"):
        return tool, ""
    if tool == "mdb":
        return "mdb", ""
    if any(word.startswith((VALUES, *FOLDERS)) for word in rest):
        return "parameters", ""
    source = {"smartctl": "smart", "sg_ses": "ses", "sg_logs": "sg_logs", "sdparm": "drive_modes"}.get(tool, "")
    devices = [word for word in rest if word.startswith("/dev/")]
    return (source, device(devices[-1])) if source and devices else NOTHING


def _zpool(rest: Sequence[str], letters: str) -> str:
    operands = _operands(rest, "cdoRTstn" if "import" in rest[:1] else "o")
    verb = operands[0] if operands else ""
    if verb == "status" and "e" in letters:
        return ""
    if verb == "status":
        return "zpool_status_json" if "j" in letters else "zpool_status_guid" if "g" in letters else "zpool_status"
    if verb == "import":
        return "zpool_import" if len(operands) == 1 and not {"a", "D"} & set(letters) else ""
    if verb == "iostat" and "w" in letters:
        return "zpool_iostat_w"
    exact = "H" in letters and "p" in letters
    by_verb = {
        "list": exact,
        "iostat": exact and "l" in letters,
        "events": "v" in letters,
        "get": "j" not in letters,
        "history": True,
    }
    return f"zpool_{verb}" if by_verb.get(verb) else ""


def _zdb(operands: Sequence[str], letters: str) -> tuple[str, str]:
    if "l" in letters and operands:
        return "zdb_label", device(operands[-1])  # with -u it says more, and both is read
    return ("zdb_config", "") if "C" in letters and not operands else NOTHING


def _operands(rest: Sequence[str], with_value: str) -> list[str]:
    """The words that are neither options nor the values of those in `with_value`."""
    found, value = [], False
    for word in rest:
        if not value and not word.startswith("-"):
            found.append(word)
        value = not value and len(word) == 2 and word[0] == "-" and word[1] in with_value
    return found


def _printed(tool: str, rest: Sequence[str]) -> str:
    """The one file that a command prints as it is: of ZFS in /proc, a module parameter, or what modprobe is told."""
    paths = [word for word in rest if word.startswith("/")]
    alone = tool in ("cat", "head", "tail") and len(paths) == 1 and "*" not in paths[0]
    return paths[0] if alone and paths[0].startswith((ROOT, VALUES, *FOLDERS)) else ""


def kernel_file(path: str) -> tuple[str, str]:
    """Source and key of a file that `_printed` knows; also of what stands for one in the source `node`."""
    if path in _ANSWERS.values():
        return "node", ""
    if path.startswith((VALUES, *FOLDERS)):
        return "parameters", ""
    first, _, name = path.removeprefix(f"{ROOT}/").partition("/")
    if not name:
        return {"import_progress": "kstat_pools", "dmu_tx": "kstat_dmu_tx", "dbgmsg": "dbgmsg"}.get(first, ""), ""
    if name in ("state", "guid"):
        return "kstat_pools", ""
    return ("kstat_txgs", first) if name in ("txgs", "multihost", "dmu_tx_assign") else NOTHING


def device(path: str) -> str:
    """What a device is called in a capture's key: "sda1" of "/dev/sda1"; a by-id link keeps its own name."""
    return path.rsplit("/", 1)[-1]
