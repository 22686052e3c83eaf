"""What importing operations read and ask: what `zpool import` lists, whose labels the disks carry, what is imported here already.

An import by these operations never writes: `readonly=on` is in every argv, no cache file is kept and nothing is mounted. The
pool is named by its guid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agents.collectors import node, zdb_label, zpool_get, zpool_import, zpool_status
from agents.collectors._vdevs import Vdev
from agents.collectors.base import Capture, Unparsed
from agents.collectors.zpool_import import Importable
from agents.host.host import Host
from agents.operations import _member, _released, _uberblocks
from agents.operations._member import Question
from agents.operations._tree import understood, value_of
from agents.operations.base import NONE, UNKNOWN, Probe, Unread, check_guid, check_names, check_pool, known, once
from agents.zfs_releases import CHECKED, asks

PARAMS = ("pool", "pool_guid", "force")
TIMEOUT_SECONDS = 1800.0  # a large pool with a sick disk; what is slower is looked at by a person
FACTS = (
    "import.listed",
    "import.state",
    "import.says",
    "import.here",
    "labels.writers",
    "labels.members",
    "node.hostid",
    "import.checked",
    *_released.FACTS,
)
OPTIONS = ("-N", "-o", "readonly=on", "-o", "cachefile=none")
WHERE = ("-d", "/dev/disk/by-id")
ASIDE = ("cache", "spares")  # sections of what holds no data of the pool; the listing prints no state of it
NO_MORE: Mapping[str, Callable[[Importable], str]] = {}
NOT_ASKED = "of no matter on this release"
FREE, FORCE, ELSEWHERE, UNREADABLE = "free", "last used elsewhere", "imported elsewhere now", "needs other software"
UNNAMED = "active, by a host that nobody knows: no proof that another has it, nor that none has"
OF_HOSTID_0 = re.compile(r"must be exported from \S+ \(hostid=0\)")


def check(params: Mapping[str, str]) -> str:
    bad = check_names(params, PARAMS) or check_pool(params["pool"]) or check_guid("pool_guid", params["pool_guid"])
    return bad or ("" if params["force"] in ("yes", "no") else f"`force` is {params['force']!r}; it must be yes or no.")


def forced(params: Mapping[str, str]) -> tuple[str, ...]:
    """`-f` says that the host which used the pool last is known not to have it any more. It overrides nothing else here."""
    return ("-f",) if params["force"] == "yes" else ()


def unforced(params: Mapping[str, str]) -> dict[str, str]:
    """The same parameters for what is asked alike of every import, by an operation that is never forced."""
    return {**params, "force": "no"}


def altroot(params: Mapping[str, str]) -> tuple[str, ...]:
    return ("-R", f"/mnt/ro-{params['pool']}")


def argv(params: Mapping[str, str], more: tuple[str, ...] = ()) -> tuple[str, ...]:
    return ("zpool", "import", *more, *OPTIONS, *altroot(params), *WHERE, *forced(params), params["pool_guid"])


def preconditions(host: Host, params: Mapping[str, str], more: Mapping[str, Callable[[Importable], str]] = NO_MORE) -> dict[str, str]:
    """`more`: what else is read off the pool's place in the listing, by name of the fact; each may raise Unread."""
    listed, labels, versions = once(lambda: listings(host, params)), once(lambda: _labels(host, params)), _member.versions(host)
    return {
        **{name: known(_of(listed, read)) for name, read in more.items()},
        "import.listed": known(lambda: str(len(listed()))),
        "import.state": known(lambda: _one(listed()).state),
        "import.says": known(lambda: status_of(_one(listed()))),
        "import.here": known(lambda: in_the_way(host, params)),
        "labels.writers": known(lambda: ", ".join(sorted({_writer(label) for label in labels()})) or NONE),
        "labels.members": known(lambda: str(len({label.guid for label in labels()}))),
        "node.hostid": known(lambda: _hostid(host)),
        "import.checked": known(lambda: checked(host, params, labels(), versions["zfs.module"])),
        **versions,
    }


def _of(listed: Callable[[], tuple[Importable, ...]], read: Callable[[Importable], str]) -> Callable[[], str]:
    return lambda: read(_one(listed()))


def checked(host: Host, params: Mapping[str, str], labels: tuple[Written, ...], module: str) -> str:
    """Whether the kernel looks for another host before it takes the pool (spa_activity_check_required): where multihost is on, but for a
    pool that this very host exported. Asked only where the release makes it matter, as the ring of every disk must be read for it."""
    if not asks(CHECKED, module):
        return NOT_ASKED
    own = int(_hostid(host), 16)
    if labels and own and all(label.exported and label.hostid == own for label in labels):
        return "no"
    return "yes" if _uberblocks.multihost(_uberblocks.rings(host, params)) else "no"


def questions(params: Mapping[str, str]) -> tuple[Question, ...]:
    pool = params["pool"]
    wanted = (FREE, FORCE) if params["force"] == "yes" else (FREE,)
    return (
        ("import.listed", ("1",), f"`zpool import` lists {pool} ({params['pool_guid']}) {{}} times. Find out which disks are here."),
        ("import.says", wanted, f"Of {pool} `zpool import` says: {{}}."),
        ("import.here", (NONE,), f"{pool} is imported here already: {{}}."),
    )


def guards(name: str, pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Of an import by this operation."""
    checked = _released.state(pre, "import.checked", "yes", "no")
    verdicts = (*_member.judge(questions(params), pre, FACTS), *_released.verdicts(name, pre, {CHECKED: checked}))
    writers, own = (pre.get(name) or f"{UNKNOWN}it was not read" for name in ("labels.writers", "node.hostid"))
    if params["force"] == "yes" or writers.startswith(UNKNOWN) or own.startswith(UNKNOWN):
        return verdicts  # where something is not known, they say so already
    if writers == NONE:
        return (*verdicts, ("refuse", f"No disk here carries a label of {params['pool']}, so the host that used it last is not known."))
    if any(f"({own})" not in w and "exported" not in w for w in writers.split(", ")):
        return (
            *verdicts,
            ("refuse", f"{params['pool']} was used last by {writers}; this is {own}. Prove first that no other host has it imported."),
        )
    return verdicts


def status_of(pool: Importable) -> str:
    """What `status:` and `action:` mean for an import, in one word. The advice they give is not followed."""
    text = " ".join(f"{pool.status} {pool.action}".split())
    if OF_HOSTID_0.search(text):
        return UNNAMED
    if "currently imported by another system" in text or "must be exported from" in text:
        return ELSEWHERE
    if "feature" in pool.status or "newer version" in text:
        return UNREADABLE
    return FORCE if "last accessed by another system" in text else FREE  # "may be active" is said of every pool that was not exported


def absent(listed: Importable) -> str:
    """The leaves that the listing does without, or "none". Raises Unread."""
    return named_absent(held(listed, lambda section: section not in ASIDE))


def held(listed: Importable, wanted: Callable[[str], bool]) -> tuple[Vdev, ...]:
    """The root of the plain vdevs, which stand in the section "", and the vdevs of each other section that is wanted. Raises Unread."""
    if listed.unread or (listed.more_devices and not listed.lacks_a_log) or not listed.vdevs.children:
        raise Unread("the listing does not show every vdev of the pool")
    sections = (("", (listed.vdevs,)), *listed.sections)
    return tuple(vdev for name, vdevs in sections if wanted(name) for vdev in vdevs)


def named_absent(vdevs: tuple[Vdev, ...]) -> str:
    return ", ".join(leaf.name for vdev in vdevs for leaf in _leaves(vdev) if leaf.state != "ONLINE") or NONE


def _leaves(vdev: Vdev) -> Iterator[Vdev]:
    if not vdev.children:
        yield vdev
    for child in vdev.children:
        yield from _leaves(child)


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    return plan_facts(preconditions(host, params))


def plan_facts(facts: dict[str, str]) -> dict[str, object]:
    listed = {name: facts[f"import.{name}"] for name in ("state", "says", "listed")}
    return {"import": {**listed, "writers": facts["labels.writers"], "members": facts["labels.members"]}, "preconditions": facts}


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    """Whether the pool is imported here now, and that it was read-only."""
    evidence = aftermath(host, params)
    try:
        here = imported(host, params)
        on = setting(host, here, "readonly") if here != NONE else ""
    except Unread as unread:
        return Probe("cannot_tell", evidence, f"Whether it took place is not known: {unread}.")
    if here == NONE:
        return Probe("did_not", evidence, f"{params['pool']} is not imported.")
    if on == "on" and here == params["pool"]:
        return Probe("did", evidence, f"{params['pool']} is imported, read-only.")
    return Probe("cannot_tell", evidence, f"{here} is imported, and its property readonly is {on or 'not known'}.")


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*zpool_status.collect(host), *zpool_get.collect(host))


@dataclass(frozen=True)
class Written:
    """Who a label was written by, and whether it was exported then."""

    guid: int
    hostid: int | None
    hostname: str
    exported: bool


def listings(host: Host, params: Mapping[str, str]) -> tuple[Importable, ...]:
    """Where `zpool import` lists the pool. Raises Unread."""
    parsed = understood(zpool_import.collect(host)[0], zpool_import.parse, "what can be imported")
    return tuple(pool for pool in parsed if str(pool.guid) == params["pool_guid"])


def _one(listed: tuple[Importable, ...]) -> Importable:
    if len(listed) != 1:
        raise Unread(f"`zpool import` lists the pool {len(listed)} times")
    return listed[0]


def imported(host: Host, params: Mapping[str, str]) -> str:
    """The imported pool that has this guid, by the name it has here. Another pool may have its name. Raises Unread."""
    return next((name for name, guid in _pools(host).items() if guid == params["pool_guid"]), NONE)


def in_the_way(host: Host, params: Mapping[str, str]) -> str:
    """The imported pool that this one could not be imported beside: itself, under whatever name, or another one with its name."""
    pools = _pools(host)
    return next((name for name, guid in pools.items() if guid == params["pool_guid"] or name == params["pool"]), NONE)


def _pools(host: Host) -> dict[str, str]:
    """Name -> guid of every imported pool. One whose guid cannot be read may be any pool, so the answer is not known."""
    parsed = understood(zpool_status.collect(host)[0], zpool_status.parse, "the imported pools")
    guids = {pool.name: setting(host, pool.name, "guid") for pool in parsed}
    unread = [name for name, guid in guids.items() if not guid]
    if unread:
        raise Unread(f"the guid of the imported pool {unread[0]} cannot be read")
    return guids


def _labels(host: Host, params: Mapping[str, str]) -> tuple[Written, ...]:
    found = []
    for capture in zdb_label.collect(host):
        parsed = understood(capture, zdb_label.parse, f"the label of {capture.key}")
        mine = [label for label in parsed.labels if str(label.pool_guid) == params["pool_guid"]]
        found += [Written(label.guid, label.hostid, label.hostname or "", label.state == 1) for label in mine]
    return tuple(found)


def _writer(label: Written) -> str:
    who = f"{label.hostname or 'an unknown host'} ({label.hostid:08x})" if label.hostid is not None else "an unknown host"
    return f"{who} exported" if label.exported else who


def _hostid(host: Host) -> str:
    capture = node.collect(host)[0]
    parsed = value_of(capture, node.parse)
    if isinstance(parsed, Unparsed) or not parsed.hostid:
        raise Unread("the node does not report its hostid")
    return parsed.hostid


def setting(host: Host, pool: str, name: str) -> str:
    parsed = understood(zpool_get.collect(host)[0], zpool_get.parse, f"the properties of {pool}")
    return next((row.value for row in parsed if row.pool == pool and row.name == name), "")
