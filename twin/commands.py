"""Every read command the twin answers, and how. What is not listed here is refused, never silently fine."""

from collections.abc import Callable, Sequence

from twin import (
    adding,
    blkid,
    datasets,
    drive_logs,
    importing,
    kernel,
    labels,
    light_tools,
    lsscsi,
    multipath,
    opened,
    partitioning,
    past,
    ses,
    smart,
    smart_json,
    snapshots,
    status_json,
    tables,
)
from twin.answer import Answer, refused
from twin.figures import nicenum
from twin.model import Pool
from twin.status import Style, is_healthy, pool_text
from twin.vdevs import pool_state
from twin.view import View

EXIT_UNKNOWN = 2  # as the tools answer a usage error
STATUS_FLAGS = frozenset("PgLpsvxj")
NO_POOLS = Answer(0, "", "no pools available\n")
LIST_COLUMNS = ("NAME", "SIZE", "ALLOC", "FREE", "CKPOINT", "EXPANDSZ", "FRAG", "CAP", "DEDUP", "HEALTH", "ALTROOT")

Command = Callable[[View, Sequence[str], float], Answer]


def unknown(argv: Sequence[str]) -> Answer:
    return refused(EXIT_UNKNOWN, f"the twin has no answer to `{' '.join(argv)}`")


def zpool_status(view: View, args: Sequence[str], now: float) -> Answer:
    flags = {letter for a in args if a.startswith("-") and not a.startswith("--") for letter in a[1:]}
    words = [a for a in args if not a.startswith("-")]
    unlike = {a for a in args if a.startswith("--") and a != "--json-int"}
    json = "j" in flags
    if flags - STATUS_FLAGS or unlike or (json and (view.node.release < (2, 3) or "--json-int" not in args)):
        return unknown(("zpool", "status", *args))
    missing = [w for w in words if not any(p.name == w for p in view.node.imported)]
    if missing:
        return refused(1, f"cannot open '{missing[0]}': no such pool")
    pools = [p for p in view.node.imported if not words or p.name in words]
    style = Style("P" in flags, "g" in flags, "L" in flags, "p" in flags, "s" in flags, "v" in flags)
    if json:
        return Answer(0, status_json.document(view, pools, style, now))
    return _status_text(view, pools, words, style, "x" in flags, now)


def _status_text(view: View, pools: list[Pool], named: list[str], style: Style, only_ill: bool, now: float) -> Answer:
    if not pools:
        return NO_POOLS
    if only_ill:
        pools = [pool for pool in pools if not is_healthy(view, pool)]
    if not pools:
        return Answer(0, f"pool '{named[0]}' is healthy\n" if named else "all pools are healthy\n")
    return Answer(0, "\n".join(pool_text(view, pool, style, now) for pool in pools))


def zpool_import(view: View, args: Sequence[str], now: float) -> Answer:
    if args:
        return unknown(("zpool", "import", *args))
    return Answer(0, *importing.listing(view))


def zpool_list(view: View, args: Sequence[str], now: float) -> Answer:
    flags = {letter for a in args if a.startswith("-") for letter in a[1:]}
    words = [a for a in args if not a.startswith("-")]
    if flags - set("Hpvg") or ("v" in flags and not flags >= set("Hpg")):
        return unknown(("zpool", "list", *args))
    missing = [w for w in words if not any(p.name == w for p in view.node.imported)]
    if missing:
        return refused(1, f"cannot open '{missing[0]}': no such pool")
    pools = [p for p in view.node.imported if not words or p.name in words]
    rows = [_list_row(p, "p" in flags) for p in pools]
    if "H" in flags and not rows:
        return Answer(0)
    if "v" in flags:
        return Answer(0, "".join(tables.space(view, pool, row) for pool, row in zip(pools, rows, strict=False)))
    if not rows:
        return Answer(0, "no pools available\n")
    if "H" in flags:
        return Answer(0, "".join("\t".join(row) + "\n" for row in rows))
    return Answer(0, _list_table(rows))


def _list_row(pool: Pool, exact: bool) -> tuple[str, ...]:
    size = sum(top.asize >> top.metaslab_shift << top.metaslab_shift for top in pool.tops if top.cls != "log")
    cap = pool.alloc_bytes * 100 // size
    amounts = [str(n) if exact else nicenum(n) for n in (size, pool.alloc_bytes, size - pool.alloc_bytes)]
    health = "SUSPENDED" if pool.suspended else pool_state(pool)
    percent, times = ("", "") if exact else ("%", "x")
    return (pool.name, *amounts, "-", "-", f"0{percent}", f"{cap}{percent}", f"1.00{times}", health, "-")


def _list_table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(column), *(len(row[i]) for row in rows)) for i, column in enumerate(LIST_COLUMNS)]
    # zpool keeps these columns wider than their headings.
    widths = [max(w, m) for w, m in zip(widths, (0, 5, 5, 5, 7, 8, 5, 5, 5, 8, 0), strict=False)]
    lines = []
    for row in [LIST_COLUMNS, *rows]:
        cells = [f"{row[0]:<{widths[0]}}"] + [f"{cell:>{w}}" for cell, w in zip(row[1:-1], widths[1:-1], strict=False)] + [row[-1]]
        lines.append("  ".join(cells))
    return "\n".join(lines) + "\n"


def zpool_get(view: View, args: Sequence[str], now: float) -> Answer:
    return tables.properties(view, args, now) or unknown(("zpool", "get", *args))


def zfs_get(view: View, args: Sequence[str], now: float) -> Answer:
    return snapshots.get(view.node, args) or datasets.answer(view, args) or unknown(("zfs", "get", *args))


def zpool_iostat(view: View, args: Sequence[str], now: float) -> Answer:
    """An interval is not waited for: what the disks do is the same at any time."""
    return tables.iostat(view, args, now) or unknown(("zpool", "iostat", *args))


def zpool_history(view: View, args: Sequence[str], now: float) -> Answer:
    flags, words = [a for a in args if a.startswith("-")], [a for a in args if not a.startswith("-")]
    letters = set("".join(flags)) - {"-"}
    if letters - set("il"):
        return unknown(("zpool", "history", *args))
    missing = [w for w in words if not any(p.name == w for p in view.node.imported)]
    if missing:
        return refused(1, f"cannot open '{missing[0]}': no such pool")
    pools = [p for p in view.node.imported if not words or p.name in words]
    if not pools:
        return NO_POOLS
    return Answer(0, "".join(past.history(view.node, p, "i" in letters, "l" in letters) for p in pools))


def zpool_events(view: View, args: Sequence[str], now: float) -> Answer:
    return Answer(0, past.events(view.node)) if list(args) == ["-v"] else unknown(("zpool", "events", *args))


def dmesg(view: View, args: Sequence[str], now: float) -> Answer:
    return unknown(("dmesg", *args)) if args else Answer(0, "".join(f"{line}\n" for line in kernel.log_lines(view.node)))


def zfs_version(view: View, args: Sequence[str], now: float) -> Answer:
    if args:
        return unknown(("zfs", "version", *args))
    return Answer(0, f"zfs-{view.node.zfs_userland}\nzfs-kmod-{view.node.zfs_module}\n")


def zdb(view: View, args: Sequence[str], now: float) -> Answer:
    if list(args) == ["-C"]:
        cached = tables.cached_config(view)
        return Answer(0, cached) if cached else Answer(1, tables.NO_CACHE_FILE)
    if opened.asks(args):
        return opened.answer(view, args)
    if len(args) != 2 or args[0] not in ("-l", "-lu"):
        return unknown(("zdb", *args))
    exit_code, text = (labels.dump if args[0] == "-l" else tables.uberblocks)(view, args[1])
    return Answer(exit_code, text)


def systemd_run(view: View, args: Sequence[str], now: float) -> Answer:
    return opened.run_masked(view, args) or unknown(("systemd-run", *args))


def scsi_list(view: View, args: Sequence[str], now: float) -> Answer:
    if not lsscsi.understands(args):
        return unknown(("lsscsi", *args))
    return Answer(0, lsscsi.listing(view.node, args))


def smartctl(view: View, args: Sequence[str], now: float) -> Answer:
    device = view.device(args[-1]) if args else None
    if not {"-x", "-i"} & set(args) or device is None or not device.is_whole:
        return unknown(("smartctl", *args))
    if "-j" in args:
        exit_code, text = smart_json.report(view.node, device.disk, device.name, args, now)
        return Answer(exit_code, text)
    exit_code, text = smart.report(view.node, device.disk, tuple(args), now)
    return Answer(exit_code, text)


def sg_ses(view: View, args: Sequence[str], now: float) -> Answer:
    page = {"--page=aes": ses.page, "--page=es": ses.status_page}.get(args[0]) if len(args) == 2 else None
    enclosure = ses.enclosure_at(view.node, args[-1]) if page is not None else None
    return unknown(("sg_ses", *args)) if page is None or enclosure is None else Answer(0, page(view.node, enclosure))


def zpool_add_dry_run(view: View, args: Sequence[str], now: float) -> Answer:
    wanted = adding.parse(args[2:])
    return unknown(("zpool", "add", *args)) if wanted is None or list(args[:2]) != ["-n", "-P"] else adding.dry_run(view, wanted)


def sg_logs(view: View, args: Sequence[str], now: float) -> Answer:
    """Only as a reading asks: it opens the disk for writing without `--readonly`, and ZED then reopens the pool."""
    asks = len(args) == 3 and args[0] == "--readonly" and args[1].startswith("--page=")
    device = view.device(args[2]) if asks else None
    return unknown(("sg_logs", *args)) if device is None else drive_logs.log_page(device.disk, args[1][len("--page=") :], now)


def sdparm(view: View, args: Sequence[str], now: float) -> Answer:
    """Only looking; who sets a mode writes."""
    asks = len(args) == 2 and args[0].startswith("--get=") and args[0][len("--get=") :] in drive_logs.MODES
    device = view.device(args[1]) if asks else None
    return unknown(("sdparm", *args)) if device is None else drive_logs.mode_field(device.disk, args[1], args[0][len("--get=") :])


def blkid_probe(view: View, args: Sequence[str], now: float) -> Answer:
    device = view.device(args[1]) if len(args) == 2 and args[0] == "-p" else None
    if device is None:
        return unknown(("blkid", *args))
    exit_code, text = blkid.probe(view.node, device, args[1])
    return Answer(exit_code, text)


def light_tool(program: str) -> Command:
    def looks(view: View, args: Sequence[str], now: float) -> Answer:
        tool = light_tools.of(view.node, program)
        answer = light_tools.answer(view.node, tool, args) if tool is not None else None
        return unknown((program, *args)) if answer is None else answer

    return looks


def multipathd(view: View, args: Sequence[str], now: float) -> Answer:
    text = multipath.daemon(view.node, args)
    return unknown(("multipathd", *args)) if text is None else Answer(0, text)


def multipath_maps(view: View, args: Sequence[str], now: float) -> Answer:
    text = multipath.topology(view.node, args)
    return unknown(("multipath", *args)) if text is None else Answer(0, text)


def hostid(view: View, args: Sequence[str], now: float) -> Answer:
    return Answer(0, f"{view.node.hostid}\n")


def hostname(view: View, args: Sequence[str], now: float) -> Answer:
    return Answer(0, f"{view.node.hostname}\n") if not args else unknown(("hostname", *args))


def uname(view: View, args: Sequence[str], now: float) -> Answer:
    node = view.node
    whole = f"Linux {node.hostname} {node.kernel} {node.kernel_build} x86_64 GNU/Linux"
    text = {"-r": node.kernel, "-n": node.hostname, "-s": "Linux", "": "Linux", "-m": "x86_64", "-a": whole}.get(" ".join(args))
    return unknown(("uname", *args)) if text is None else Answer(0, text + "\n")


TOOLS: dict[str, Command] = {
    "zdb": zdb,
    "lsscsi": scsi_list,
    "smartctl": smartctl,
    "sg_ses": sg_ses,
    "sg_logs": sg_logs,
    "sdparm": sdparm,
    "blkid": blkid_probe,
    "sfdisk": partitioning.sfdisk,
    "sgdisk": partitioning.version,
    "systemd-run": systemd_run,
    "dmesg": dmesg,
    **{program: light_tool(program) for program in light_tools.NAMES.values()},
    "multipathd": multipathd,
    "multipath": multipath_maps,
    "hostid": hostid,
    "hostname": hostname,
    "uname": uname,
}
SUBCOMMANDS: dict[tuple[str, str], Command] = {
    ("zpool", "status"): zpool_status,
    ("zpool", "add"): zpool_add_dry_run,
    ("zpool", "import"): zpool_import,
    ("zpool", "list"): zpool_list,
    ("zpool", "get"): zpool_get,
    ("zpool", "iostat"): zpool_iostat,
    ("zpool", "history"): zpool_history,
    ("zpool", "events"): zpool_events,
    ("zpool", "version"): zfs_version,
    ("zpool", "--version"): zfs_version,
    ("zfs", "get"): zfs_get,
    ("zfs", "version"): zfs_version,
    ("zfs", "--version"): zfs_version,
}
WRITERS = ("sgdisk", "proxmox-boot-tool")  # tools of which no form that is given only looks


def is_installed(tool: str) -> bool:
    return tool in TOOLS or tool in WRITERS or any(tool == name for name, _ in SUBCOMMANDS)


def is_read(argv: Sequence[str]) -> bool:
    """Whether `argv` only looks. `zpool import` with any word after it would change something."""
    if tuple(argv[:2]) == ("zpool", "import"):
        return len(argv) == 2
    if tuple(argv[:2]) == ("zpool", "add"):
        return "-n" in argv
    if argv[0] == "sgdisk":
        return tuple(argv[1:]) == ("--version",)
    if argv[0] == "smartctl":
        return "-t" not in argv
    if argv[0] == "sdparm":
        return not any(word.startswith(("--set", "--clear")) for word in argv)
    if argv[0] in light_tools.NAMES.values():
        return not light_tools.switches(argv)
    return argv[0] in TOOLS or tuple(argv[:2]) in SUBCOMMANDS


def read_command(argv: Sequence[str]) -> tuple[Command | None, Sequence[str]]:
    if argv[0] in TOOLS:
        return TOOLS[argv[0]], argv[1:]
    return (SUBCOMMANDS.get((argv[0], argv[1])) if len(argv) > 1 else None), argv[2:]


def disk_asked(view: View, argv: Sequence[str]) -> str:
    """The WWID of the disk a command must reach to answer, "" if there is none."""
    device = view.device(argv[-1]) if argv[0] in ("zdb", "smartctl", "blkid", "sfdisk", "sg_logs", "sdparm") else None
    return device.disk.wwid if device else ""
