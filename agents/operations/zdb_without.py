"""Try whether a pool that is not imported can be opened, with all its disks and without one of them: `zdb -e -p /dev/disk/by-id GUID -d`.

Nothing is imported and nothing is written; zdb reads by itself, outside the kernel. Leaving a disk out of the folder that zdb searches is
not enough, as it opens the stored path of a member all the same. So systemd runs it where the disk's devices are masked, in a mount
namespace of its own, and it ends with zdb. Every path of the disk is masked, found by its WWID in that moment.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import zpool_import, zpool_status
from agents.collectors.base import Capture, decode
from agents.host.host import Host, Ran
from agents.operations import _candidate, _importing, _member, _released
from agents.operations.base import NONE, Probe, Unread, check_guid, check_names, check_pool, check_wwid, known

NAME = "zdb_without"
EFFECT = "idempotent"
DESTRUCTIVE = False
PARAMS = ("pool", "pool_guid", "wwid")
TRIAL_SECONDS = 900.0  # each of the two; a disk that hangs is what this is about
TIMEOUT_SECONDS = 2 * TRIAL_SECONDS + 60
FACTS = ("import.here", "disk.wwid", "disk.paths", "zfs.userland", "zfs.module")
OPENED = "Dataset mos "  # the first thing zdb prints of a pool that it could open
OPENS, OPENS_ANYWAY, DOES_NOT = "opens without it only", "opens with it too", "does not open without it either"


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    if bad:
        return bad
    return check_wwid(params["wwid"])


def zdb(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("zdb", "-e", "-p", "/dev/disk/by-id", params["pool_guid"], "-d")


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """No tool is called by the first and the last words; they say what `perform` does."""
    return ("try", *zdb(params), "without", params["wwid"])


def trial(params: Mapping[str, str], devices: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Both are run in the same way, so that nothing but the hidden devices is different between them."""
    hidden = ("-p", "InaccessiblePaths=" + " ".join(f"/dev/{name}" for name in devices)) if devices else ()
    limits = (*hidden, "-p", f"RuntimeMaxSec={TRIAL_SECONDS:.0f}")
    return ("systemd-run", "--quiet", "--wait", "--pipe", "--collect", *limits, *zdb(params))


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return {
        "import.here": known(lambda: _importing.in_the_way(host, params)),
        "disk.wwid": known(lambda: _candidate.find(host, params["wwid"]).wwid),
        "disk.paths": known(lambda: str(len(_candidate.find(host, params["wwid"]).paths))),
        **_member.versions(host),
    }


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    pre = preconditions(host, params)
    return {
        "outgoing": {"wwid": params["wwid"], "paths": pre["disk.paths"]},
        "topology_before": [],
        "topology_after": [],
        "preconditions": pre,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    questions = (
        ("import.here", (NONE,), f"{params['pool']} is imported here: {{}}. What zdb reads of such a pool means nothing."),
        ("disk.wwid", (params["wwid"],), f"The disk is {{}} and {params['wwid']} was meant."),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    begun, command = host.now(), argv(params)
    try:
        devices = _candidate.find(host, params["wwid"]).devices
    except Unread as unread:
        return Ran(command, 1, b"", f"{unread}\n".encode(), host.now() - begun)
    whole, without = (host.run(trial(params, hidden), TRIAL_SECONDS + 30) for hidden in ((), devices))
    for ran, how in ((without, f"without {params['wwid']}"), (whole, f"with {params['wwid']}")):
        if not (_opens(ran) or "zdb:" in decode(ran.stderr) or (ran is whole and _hung(ran))):
            why = decode(ran.stderr).strip() or ran.why or "zdb printed nothing"
            return Ran(command, 1, ran.stdout, f"It could not be tried {how}: {why}\n".encode(), host.now() - begun)
    found = DOES_NOT if not _opens(without) else OPENS_ANYWAY if _opens(whole) else OPENS
    text = f"{params['pool']} {found}.\nwith all: {_last(whole)}\nwithout {params['wwid']}: {_last(without)}\n"
    return Ran(command, 0, text.encode(), b"", host.now() - begun)


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    evidence = (*zpool_status.collect(host), *zpool_import.collect(host))
    return Probe("did_not", evidence, "The trial changes nothing, and its output is lost. It can be tried again.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return ()


def _opens(ran: Ran) -> bool:
    return ran.exit_code == 0 and OPENED in decode(ran.stdout)


def _hung(ran: Ran) -> bool:
    """It was at it until its time was up: what a disk does that takes commands and does not answer."""
    return ran.seconds >= TRIAL_SECONDS


def _last(ran: Ran) -> str:
    if _opens(ran):
        return "it opens"
    return decode(ran.stderr).strip().rpartition("\n")[2] or ran.why or "it does not open"
