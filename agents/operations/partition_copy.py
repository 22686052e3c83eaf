"""Copy the partition table of a serving boot disk to a blank one: `sgdisk --replicate=NEW OLD`, then `sgdisk --randomize-guids NEW`.

`sgdisk DISK --replicate=OTHER` reads DISK and overwrites OTHER (sgdisk(8)); both are named by WWID. The copy has all GUIDs of the original until the
second command, so both are one operation, and what was written is read back: equal partitions, no GUID in common. No data is copied.

    blank -> replicated (GUIDs of the other disk) -> GUIDs of its own -> read back

Only onto a disk without a partition table, label, file system or use, which is not smaller and has the same sectors.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.domain.wwid import by_id_path
from agents.host.host import Host, Ran
from agents.operations import _boot_member, _candidate, _member, _new_disk, _partitions, _released, base
from agents.operations._boot_member import Scene
from agents.operations.base import NONE, Probe, Unread, known

NAME = "partition_copy"
EFFECT = "at_most_once"
DESTRUCTIVE = True
PARAMS = _boot_member.PARAMS
TIMEOUT_SECONDS = 120.0
FACTS = (*_boot_member.FACTS, "source.kind", "disk.partitions", "node.sgdisk")

check = _boot_member.check
aftermath = _new_disk.aftermath


def argv(params: Mapping[str, str]) -> tuple[str, ...]:
    """To be read and compared: `perform` runs both commands. No tool is called so, so a paste of it does nothing."""
    return ("copypartitions", "from", str(by_id_path(params["from_wwid"])), "to", str(by_id_path(params["wwid"])))


def commands(params: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    source, new = str(by_id_path(params["from_wwid"])), str(by_id_path(params["wwid"]))
    return (("sgdisk", f"--replicate={new}", source), ("sgdisk", "--randomize-guids", new))


def perform(host: Host, params: Mapping[str, str]) -> Ran:
    """Both commands, each once, and the read-back. The first that fails ends it."""
    begun, output = host.now(), b""
    for command in commands(params):
        ran = host.run(command, TIMEOUT_SECONDS / 2)
        output += ran.stdout
        if ran.exit_code != 0:
            return Ran(argv(params), ran.exit_code, output, ran.stderr, host.now() - begun, ran.why)
    try:
        scene = _boot_member.survey(host, params)
        result = _partitions.compared(host, scene.source(), scene.disk())
    except Unread as unread:
        result = str(unread)
    good = result == _partitions.SAME
    why = b"" if good else f"the copy was read back and is: {result}\n".encode()
    return Ran(argv(params), 0 if good else 1, output, why, host.now() - begun)


def preconditions(host: Host, params: Mapping[str, str]) -> dict[str, str]:
    return _facts(_boot_member.survey(host, params))


def describe(host: Host, params: Mapping[str, str]) -> dict[str, object]:
    scene = _boot_member.survey(host, params)
    facts = _facts(scene)
    return {
        "outgoing": {},
        "incoming": _new_disk.incoming(scene),
        "source": {"wwid": params["from_wwid"], "serial": facts["source.serial"], "table": facts["source.table"]},
        "commands": dict(zip(("command 1", "command 2"), (" ".join(command) for command in commands(params)))),
        "topology_before": [],
        "topology_after": [],
        "preconditions": facts,
    }


def guards(pre: Mapping[str, str], params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    wwid = params["wwid"]
    questions = (
        *_boot_member.questions(params),
        (
            "source.kind",
            ("gpt",),
            f"The partition table of {params['from_wwid']} is {{}}. Only a GPT is copied; copy it by hand with sfdisk -d.",
        ),
        ("disk.partitions", (NONE,), f"{wwid} has the partitions {{}}. Choose a blank disk."),
        ("disk.table", (NONE,), f"{wwid} has a partition table: {{}}. Choose a blank disk."),
        *(one for one in _new_disk.questions(params) if one[0] == "disk.contents"),
    )
    return (*_member.judge(questions, pre, FACTS), *_released.verdicts(NAME, pre))


def probe(host: Host, params: Mapping[str, str], pre: Mapping[str, str]) -> Probe:
    scene = _boot_member.survey(host, params)
    evidence = (*scene.captures(), *_candidate.aftermath(host, params["wwid"]))
    result, reason = base.concluded(lambda: _concluded(scene))
    return Probe(result, evidence, reason)


def _facts(scene: Scene) -> dict[str, str]:
    host = scene.host
    return {
        **_boot_member.facts(scene),
        "source.kind": known(lambda: _partitions.kind(_partitions.needed(host, scene.source().by_id))),
        "disk.partitions": known(lambda: _partitions.partitions(scene.disk())),
        "disk.table": known(lambda: _table(scene)),
        "node.sgdisk": known(lambda: _partitions.copier(host)),
    }


def _table(scene: Scene) -> str:
    found = _partitions.read(scene.host, scene.disk().by_id)
    return NONE if found is None else found.text()


def _concluded(scene: Scene) -> tuple[str, str]:
    wwid = scene.params["wwid"]
    if _table(scene) == NONE:
        return "did_not", f"{wwid} has no partition table, as before."
    compared = _partitions.compared(scene.host, scene.source(), scene.disk())
    if compared == _partitions.SAME:
        return "did", f"{wwid} has the partitions of {scene.params['from_wwid']}, and GUIDs of its own."
    raise Unread(f"the partition table of {wwid} is {compared}")
