"""Which source a command on a prompt line is, and which node the prompt names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agents.collectors.kstat_pools import ROOT
from agents.collectors.parameters import FOLDERS, VALUES
from workflows import pasted
from workflows.pasted import zpool_list_text
from workflows.pasted.base import remembered
from workflows.triage import prompts

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


_MDB = re.compile(r"(?:echo|printf) (\w{1,80}/[A-Z]\S{0,40}) \| mdb -kw?")
_INSIDE_MDB = re.compile(r"\w+/[A-Z]\w*|\w+ *::print(?: -\w+)?|::\w+|\$q")  # typed at its prompt
_WORD = re.compile(r"[A-Za-z_][\w.+-]*")
_MAY_BE = re.compile(
    rf"[{re.escape(prompts.ENDS)}]|zpool|zfs|zdb|lsscsi|sg_|smartctl|sdparm|sysctl|mdb|dmesg|journalctl|hostid|cat |grep |tail |head |>>>|<==|Every |rc=|\]"
)
LOOKED_AT = 200  # characters, to see at a glance that a line is no command


@remembered
def asked(line: str) -> Asked | None:
    """The command on a prompt line, or of a line that is a command we know; None for anything else."""
    names_a_tool = pasted.names_a_tool(line)
    if not names_a_tool and not _MAY_BE.search(line, 0, LOOKED_AT):
        return None
    for typed in prompts.typed(line):
        if not typed.text and typed.node:
            return Asked((), "", node=typed.node)  # a tool's word for whose output follows
        if _INSIDE_MDB.fullmatch(typed.text):
            return None
        found = prompts.words(typed.text) if typed.sure or _TOOLS.search(typed.text) else None
        if found and typed.sure and line.startswith("# ") and _is_title(found.words):
            return None
        if found and found.words and _WORD.fullmatch(found.words[0]) and (typed.sure or _is_ours(found.words)):
            return _asked(found.words, found.node or typed.node)
    bare = line.strip().removeprefix("# ")
    words = prompts.words(bare).words if names_a_tool or pasted.names_a_tool(bare) else ()
    first = words[: words.index("|")] if "|" in words else words  # what filters its output is no part of it
    return _asked(words, "") if first and pasted.is_bare_command(first[0], first[1:]) else None


def behind(line: str, prompt: str) -> Asked | None:
    """Whatever stands behind the prompt of an earlier command, which is no word of an output then; None of any other line."""
    text = line.strip()
    if set(prompt) <= set(prompts.ENDS) or not text.startswith(f"{prompt} "):
        return None
    words = prompts.words(text[len(prompt) + 1 :]).words
    return _asked(words, "") if words else None


_TOOLS = re.compile(
    r"\b(?:zpool|zfs|zdb|lsscsi|sg_ses|sg_logs|smartctl|sdparm|sysctl|mdb|dmesg|journalctl|hostid|cat|grep|tail|head|mdb)\b"
)
_VERBS = frozenset(("status", "import", "list", "get", "events", "history", "iostat", "version", "--version", "-V"))
_PLACES = (ROOT, VALUES, *FOLDERS)
_OPERANDS_MAX = 4
_OPERAND = re.compile(r"-{0,2}[\w./:@+,=%*{}\[\]-]*[\w/*}\]]|[|<>&0-9;]+|-|\\|\.")
_PROSE = frozenset(
    [
        "a",
        "about",
        "after",
        "again",
        "also",
        "an",
        "and",
        "are",
        "as",
        "at",
        "because",
        "before",
        "below",
        "but",
        "by",
        "can",
        "command",
        "commands",
        "could",
        "did",
        "does",
        "for",
        "from",
        "gave",
        "gives",
        "has",
        "have",
        "hung",
        "hangs",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "just",
        "me",
        "my",
        "no",
        "not",
        "now",
        "of",
        "on",
        "only",
        "or",
        "our",
        "output",
        "outputs",
        "prints",
        "printed",
        "reads",
        "reported",
        "reporting",
        "reports",
        "returned",
        "returns",
        "said",
        "says",
        "seems",
        "shell",
        "should",
        "showed",
        "showing",
        "shows",
        "still",
        "tells",
        "than",
        "that",
        "the",
        "then",
        "there",
        "they",
        "this",
        "to",
        "told",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "while",
        "will",
        "with",
        "without",
        "would",
        "you",
        "your",
        "looks",
        "look",
        "like",
        "after",
    ]
)


_SUBCOMMANDS = {  # cmd/zpool/zpool_main.c, cmd/zfs/zfs_main.c
    "zpool": frozenset(
        [
            "add",
            "attach",
            "checkpoint",
            "clear",
            "create",
            "ddtprune",
            "destroy",
            "detach",
            "events",
            "export",
            "get",
            "help",
            "history",
            "import",
            "initialize",
            "iostat",
            "labelclear",
            "list",
            "offline",
            "online",
            "prefetch",
            "reguid",
            "remove",
            "reopen",
            "replace",
            "resilver",
            "scrub",
            "set",
            "split",
            "status",
            "sync",
            "trim",
            "upgrade",
            "version",
            "wait",
        ]
    ),
    "zfs": frozenset(
        [
            "allow",
            "bookmark",
            "change-key",
            "clone",
            "create",
            "destroy",
            "diff",
            "get",
            "groupspace",
            "help",
            "hold",
            "holds",
            "inherit",
            "jail",
            "list",
            "load-key",
            "mount",
            "program",
            "project",
            "projectspace",
            "promote",
            "receive",
            "recv",
            "redact",
            "release",
            "rename",
            "rewrite",
            "rollback",
            "send",
            "set",
            "share",
            "snap",
            "snapshot",
            "unallow",
            "unjail",
            "unload-key",
            "unmount",
            "umount",
            "unshare",
            "unzone",
            "upgrade",
            "userspace",
            "version",
            "wait",
            "zone",
        ]
    ),
}
TITLE_WORDS_MIN = 3  # with one of a sentence; a word more where the subcommand is one, as a pool may be called "a"


def _is_title(words: Sequence[str]) -> bool:
    """Whether "# zpool status does not show a disk" is the title of a post, in Markdown, and nobody typed it: words, and no option, path or pipe."""
    tool, *rest = words or ("",)
    if any(re.match(r"-|/.|[|<>&]|\w+=", word) for word in rest):
        return False
    spoken = sum(word.lower().strip(".,:;!?") in _PROSE for word in rest)
    if tool in _SUBCOMMANDS and rest:
        return rest[0] not in _SUBCOMMANDS[tool] or spoken > 1 or (spoken == 1 and len(words) > TITLE_WORDS_MIN)
    return spoken > 0 and len(words) >= TITLE_WORDS_MIN


def _is_ours(words: Sequence[str]) -> bool:
    """Whether a line without a sure prompt is a command we know, as one would type it, and no sentence that names one."""
    tool, *rest = words
    first = rest[: rest.index("|")] if "|" in rest else rest
    if any(word.lower().strip(".,:;!?") in _PROSE or not _OPERAND.fullmatch(word) for word in first):
        return False
    options = [word for word in first if word.startswith("-")]
    operands = [word for word in first if not word.startswith("-")]
    if tool in ("zpool", "zfs"):
        return (
            bool(first) and first[0] in _VERBS and len(operands) <= _OPERANDS_MAX and (tool == "zpool" or first[0] not in ("list", "get"))
        )
    if tool == "hostid":
        return not rest
    if tool in ("lsscsi", "dmesg", "journalctl"):
        return len(operands) == 0 or (tool == "journalctl" and bool(options))
    if tool in ("zdb", "smartctl", "sg_ses", "sg_logs", "sdparm"):
        return bool(options) or (bool(operands) and operands[0].startswith("/dev/"))
    if tool == "sysctl":
        return bool(options) or (bool(operands) and operands[0].startswith("vfs.zfs"))
    if tool in ("echo", "printf"):
        return _MDB.fullmatch(" ".join(words)) is not None
    if tool == "mdb":
        return first[:1] in (["-k"], ["-kw"])
    if tool in ("cat", "grep", "tail", "head"):
        return any(word.startswith(_PLACES) for word in operands)
    return False


def _asked(words: tuple[str, ...], node: str) -> Asked:
    if any(word.endswith(";") or word in _AND for word in words):
        return _of_several(words, node)
    of_mdb = _MDB.fullmatch(" ".join(words))
    if of_mdb:
        return Asked(words, "mdb", node=node, question=of_mdb.group(1))
    tool, *rest = words[: words.index("|")] if "|" in words[1:] else words
    letters = "".join(word[1:] for word in rest if re.fullmatch("-[A-Za-z]+", word))
    path = _printed(tool, rest) or _ANSWERS.get(tool if tool == "hostid" else " ".join((tool, *rest)), "")
    source, key = kernel_file(path) if path else _source(tool, rest, letters)
    source = source or pasted.asked(tool, rest)
    question = _headings(rest) if source == "zpool_list_text" else ""
    hint = "" if source else _HINTS.get(" ".join((tool, *_operands(rest, "")[:1])) if tool == "zpool" else tool, "")
    return Asked(words, source, key, node, path if source in _BY_PATH else "", hint, question)


def _headings(rest: Sequence[str]) -> str:
    """The heading that -H leaves out, where -o chose the columns, with the pool where it is no column; "" for the columns of its own."""
    letters = "".join(word[1:] for word in rest if re.fullmatch("-[A-Za-z]+", word))
    chosen = next((after for word, after in pairwise(rest) if re.fullmatch("-[A-Za-z]*o", word)), "")
    if not chosen:
        return ""
    names = [zpool_list_text.HEADINGS.get(name, name.upper()) for name in chosen.split(",")]
    others = [word for before, word in pairwise(rest) if not word.startswith("-") and not re.fullmatch("-[A-Za-z]*[oT]", before)]
    alone = others[0] if len(others) == 1 and re.fullmatch(r"[A-Za-z][\w.:-]{0,80}", others[0]) else ""
    pool = f"{zpool_list_text.OF_POOL}{alone}" if alone and "NAME" not in names else ""
    return " ".join(filter(None, (pool, *(names if "H" in letters else ()))))


_AND = frozenset(("&&", ";", "||", "&"))
_SILENT = frozenset(
    ("cd", "clear", "sleep", "export", "set", "sync", "true", "modprobe", "sudo", "umask", "exit", "alias", "unalias", "reset")
)


def _of_several(words: tuple[str, ...], node: str) -> Asked:
    """The one of them that prints; where several do, their outputs are told apart by how they begin."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word in _AND:
            commands.append([])
        elif word.endswith(";"):
            commands[-1].append(word.rstrip(";"))
            commands.append([])
        else:
            commands[-1].append(word)
    print_something = [each for each in commands if each and each[0] not in _SILENT]
    if len(print_something) == 1:
        inner = prompts.words(" ".join(print_something[0]))
        if inner.words:
            return replace(_asked(inner.words, inner.node or node), words=words)
    return Asked(words, "", node=node)


_DESTROYED = "It lists pools that were destroyed on purpose; `zpool import` lists the others."
_BY_PATH = ("kstat_pools", "kstat_txgs", "kstat_dmu_tx", "parameters", "node")  # each of their lines says where it is from
_VERSION = "zpool --version"
_ANSWERS = {f"{tool} {how}": _VERSION for tool in ("zfs", "zpool") for how in ("version", "--version", "-V")} | {"hostid": "hostid"}
_HINTS = {
    "zpool status": "It leaves out what is well, and a tree without its vdevs misleads; `zpool status -P -p` is read.",
    "zpool list": "Its numbers are rounded; `zpool list -v -p -H` is read.",
    "zpool iostat": "Its numbers are rounded; `zpool iostat -v -l -H -p` is read, and `zpool iostat -w`.",
    "zpool import": "It is no list of pools; `zpool import` without a name is.",
    "journalctl": "`journalctl -k` is read: the kernel's own lines.",
    "zdb": "`zdb -l DEVICE`, `zdb -lu DEVICE`, `zdb -C` and `zdb -d` are read.",
}


_BEHIND = re.compile(r"(?:sat\+)?(?:megaraid|cciss|3ware|areca|aacraid|hpt|sssraid),[0-9,/]{1,12}")


_ZED = frozenset(
    ("zed", "zfs-zed", "zfs-zed.service", "multipathd", "multipathd.service", "_TRANSPORT=kernel")
)  # whose lines journalctl was asked for


def _source(tool: str, rest: Sequence[str], letters: str) -> tuple[str, str]:
    if tool == "zpool":
        return _zpool(rest, letters), ""
    if tool == "zdb":
        return _zdb(_operands(rest, "UpotxI"), letters)
    if tool == "dmesg":
        return "kernel_log", ""
    if tool == "journalctl":
        return ("kernel_log", "") if {"k", "b"} & set(letters) or "--dmesg" in rest or _ZED & set(rest) else NOTHING
    if tool in ("lsscsi", "sysctl"):
        return tool, ""
    if tool == "mdb":
        return "mdb", ""
    if any(word.startswith((VALUES, *FOLDERS)) for word in rest):
        return "parameters", ""
    source = {"smartctl": "smart", "sg_ses": "ses", "sg_logs": "sg_logs", "sdparm": "drive_modes"}.get(tool, "")
    behind = next((word for word in rest if source == "smart" and _BEHIND.fullmatch(word)), "")
    if behind:
        return source, behind  # one device stands for every disk of a RAID controller, so the disk's number there names it
    devices = [word for word in rest if word.startswith("/dev/")]
    return (source, device(devices[-1])) if source and devices else NOTHING


def _zpool(rest: Sequence[str], letters: str) -> str:
    operands = _operands(rest, "cdoRT" if "import" in rest[:1] else "oT" if "iostat" in rest[:1] else "ocT")
    verb = operands[0] if operands else ""
    if verb == "status":
        return (
            "zpool_status_json"
            if "j" in letters or any(word.startswith("--json") for word in rest)
            else "zpool_status_guid"
            if "g" in letters
            else "zpool_status"
        )
    if verb == "import":
        return "zpool_import" if len(operands) == 1 and "a" not in letters else ""
    if verb == "iostat" and "w" in letters:
        return "zpool_iostat_w"
    exact = "H" in letters and "p" in letters
    by_verb = {
        "list": exact and "o" not in letters,  # other columns than its own cannot be told apart
        "iostat": exact and "l" in letters,
        "events": "c" not in letters,
        "get": "j" not in letters,
        "history": True,
    }
    return f"zpool_{verb}" if by_verb.get(verb) else ""


def _zdb(operands: Sequence[str], letters: str) -> tuple[str, str]:
    if "l" in letters and operands:
        return "zdb_label", device(operands[-1])  # with -u it says more, and both is read
    return ("zdb_config", "") if "C" in letters and "e" not in letters else NOTHING


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
        return {"import_progress": "kstat_pools", "dmu_tx": "kstat_dmu_tx", "dbgmsg": "dbgmsg", "arcstats": "arcstats"}.get(first, ""), ""
    if name in ("state", "guid"):
        return "kstat_pools", ""
    return ("kstat_txgs", first) if name in ("txgs", "multihost", "dmu_tx_assign") else NOTHING


def device(path: str) -> str:
    """What a device is called in a capture's key: "sda1" of "/dev/sda1"; a by-id link keeps its own name."""
    return path.rsplit("/", 1)[-1]
