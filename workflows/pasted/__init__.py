"""Readers of what people paste and no agent asks for. To add one: add a file with `READER`, list it here.

They are told apart by how their output begins, or by the command on the prompt line before it. What they say of trouble is a situation;
what they only list is joined by WWID with the rest of the paste.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workflows.engine.core import Situation
from workflows.facts import NodeFacts
from workflows.pasted import (
    alerts,
    arc_summary,
    arcconf,
    arcstats,
    areca,
    ata_errors,
    background_scan,
    blkid,
    btt,
    camcontrol,
    cciss,
    cfgadm,
    checkmk_smart,
    checks,
    dedup_table,
    disk_metrics,
    disk_names,
    dmu_tx,
    dot_hill,
    failed_loads,
    fmadm,
    fmdump_errors,
    geom_list,
    geom_status,
    hddtemp,
    hdparm,
    hdsentinel,
    hpasm,
    hwraid,
    iostat_errors,
    iostat_text,
    ipmi_chassis,
    ipmi_records,
    ipmi_sensors,
    log_statements,
    lsblk,
    lsscsi_states,
    lvm,
    machine_events,
    md,
    md_log,
    mdb_written,
    megacli,
    megasasctl,
    metastat,
    mfiutil,
    mpt_status,
    multipath_ll,
    mvcli,
    notices,
    nvme,
    nvme_errors,
    nvme_self_tests,
    nvme_subsys,
    others,
    pool_properties,
    pool_states,
    pool_table,
    racadm,
    read_tests,
    redfish,
    sas_ircu,
    sas_tree,
    scan_progress,
    scan_stats,
    sesutil,
    sg_log_pages,
    sg_map,
    smart_scan,
    smartd,
    ssacli,
    statements,
    status_rows,
    storcli,
    systemctl_status,
    truenas_pools,
    tw_cli,
    txgs,
    uberblock,
    udevadm,
    vdev_walk,
    zdb_import,
    zdb_objects,
    zed_mail,
    zed_variables,
    zfs_get,
    zfs_list,
    zpool_iostat_r,
    zpool_iostat_text,
    zpool_list_text,
)
from workflows.pasted.base import Reader, ReadOutput, Sight, Where, remembered

READERS: Mapping[str, Reader] = {
    module.READER.name: module.READER
    for module in (
        zpool_list_text,
        zpool_iostat_r,
        zpool_iostat_text,
        status_rows,
        lsblk,
        blkid,
        disk_names,
        multipath_ll,
        iostat_errors,
        iostat_text,
        storcli,
        sas_ircu,
        megacli,
        arcconf,
        areca,
        ssacli,
        tw_cli,
        hwraid,
        cciss,
        mpt_status,
        mvcli,
        md,
        lvm,
        metastat,
        smart_scan,
        mfiutil,
        megasasctl,
        fmadm,
        fmdump_errors,
        camcontrol,
        sesutil,
        geom_status,
        geom_list,
        sg_map,
        nvme_subsys,
        nvme_self_tests,
        nvme,
        nvme_errors,
        hddtemp,
        hdparm,
        hdsentinel,
        btt,
        sas_tree,
        dmu_tx,
        txgs,
        alerts,
        ata_errors,
        smartd,
        udevadm,
        zed_mail,
        zed_variables,
        racadm,
        redfish,
        dot_hill,
        machine_events,
        ipmi_records,
        ipmi_sensors,
        ipmi_chassis,
        hpasm,
        cfgadm,
        read_tests,
        checks,
        pool_states,
        disk_metrics,
        checkmk_smart,
        pool_table,
        truenas_pools,
        vdev_walk,
        notices,
        statements,
        scan_progress,
        scan_stats,
        dedup_table,
        systemctl_status,
        zfs_get,
        zfs_list,
        arcstats,
        arc_summary,
        uberblock,
        zdb_import,
        zdb_objects,
    )
}
OF_AGENTS: Mapping[str, Callable[[Any, Sequence[str], Where], tuple[Situation, ...]]] = {  # what agents ask for too, judged as pasted
    "kernel_log": lambda value, lines, where: (
        *smartd.of_log(lines, where),
        *md_log.situations(lines, where),
        *md.of_log(lines, where),
        *log_statements.situations(lines, where),
    ),
    "kstat_dmu_tx": lambda value, lines, where: dmu_tx.situations(value, where),
    "dbgmsg": lambda value, lines, where: failed_loads.situations(value, where),
    "lsscsi": lambda value, lines, where: lsscsi_states.situations(lines, where),
    "mdb": mdb_written.situations,
    "zpool_list": zpool_list_text.of_agents,
    "zpool_status_json": lambda value, lines, where: zpool_list_text.of_other_trees(value, where),
    "zpool_status_guid": lambda value, lines, where: zpool_list_text.of_other_trees(value, where),
    "zpool_get": pool_properties.situations,
    "sg_logs": sg_log_pages.situations,
    "smart": lambda value, lines, where: background_scan.situations(lines, where),
}
_FIRST = {name: re.compile(reader.first) for name, reader in READERS.items()}
_ANY = re.compile("|".join(f"(?:{reader.first})" for reader in READERS.values()))
_GOES_ON = {name: re.compile(reader.goes_on) for name, reader in READERS.items() if reader.goes_on}
_TOOLS: Mapping[str, tuple[Reader, ...]] = {
    tool: tuple(reader for reader in READERS.values() if tool in reader.tools)
    for tool in sorted({tool for reader in READERS.values() for tool in reader.tools})
}
_BARE = re.compile(rf" {{0,4}}(?:sudo +)?(?:/\S*/)?(?:{'|'.join(sorted(map(re.escape, _TOOLS), reverse=True))})(?: +[-/\w].*)?$")
_WORD_OF_COMMAND = re.compile(
    r"-\S+|/\S*|[0-9]+|[A-Z,:%_-]+|show|all|display|status|list|map|devlist|identify|disk|pd|ctrl|getconfig|smart-log|[a-z]+[0-9]+|ada?[0-9]+"
)


def begins(lines: Sequence[str], i: int) -> str:
    """The reader whose output begins with this line; "" when it is not the beginning of any."""
    return next((name for name in _alike(lines[i]) if READERS[name].confirm(lines, i)), "")


@remembered
def _alike(line: str) -> tuple[str, ...]:
    """The readers whose outputs can begin with a line like this one."""
    return tuple(name for name, form in _FIRST.items() if form.match(line)) if _ANY.match(line) else ()


def asked(tool: str, rest: Sequence[str]) -> str:
    """The reader of what this command prints; "" when there is none."""
    return next((reader.name for reader in _TOOLS.get(tool, ()) if reader.asks(tool, rest)), "")


def names_a_tool(line: str) -> bool:
    """Whether a line may be one of their commands without a prompt before it: cheap, for it is asked of every line."""
    return bool(_BARE.match(line))


def is_bare_command(tool: str, rest: Sequence[str]) -> bool:
    """Whether these words are a command of theirs and not a sentence: all are options, paths, numbers or the tool's own verbs."""
    return bool(asked(tool, rest)) and all(_WORD_OF_COMMAND.fullmatch(word) for word in rest)


def belongs(source: str, before: str, line: str) -> bool:
    """Whether a line can be part of this output, whose line before it is `before`. What stands after an empty line must look like it."""
    form = _GOES_ON.get(source)
    return form is None or (bool(before.strip()) and not READERS[source].strict) or bool(form.match(line))


def goes_on(source: str, line: str) -> bool:
    """Whether a line looks like one of this output by itself, however deep it stands: tables have headings that stand deeper than their rows."""
    form = _GOES_ON.get(source)
    return form is not None and bool(form.match(line))


def is_inside(source: str, begun: str) -> bool:
    """Whether the output of `source` has lines that only look like the beginning of `begun`."""
    return begun in READERS and source in READERS[begun].inside


def sights(outputs: Iterable[ReadOutput]) -> tuple[Sight, ...]:
    """Every disk that one of these outputs names, in their order."""
    return tuple(sight for each in outputs for sight in each.reader.sights(each.value))


def links(outputs: Iterable[ReadOutput]) -> tuple[tuple[str, str], ...]:
    """Every (link, kernel name) that one of these outputs names."""
    return tuple(dict.fromkeys(link for each in outputs for link in each.reader.links(each.value)))


def of_agents(place: str, value: Any, text: str, where: Where) -> tuple[Situation, ...]:
    """What an output that agents ask for as well says of trouble and no fact bears. `place` is its source, with a key where there are many."""
    judge = OF_AGENTS.get(place.partition("/")[0])
    return judge(value, text.split("\n"), where) if judge is not None else ()


def unreadable(lines: Sequence[str], tool: str) -> str:
    """What an output is that nobody here reads, and what to run instead; "" when that is not known."""
    return others.meaning(lines) or others.TOOLS.get(tool, "")


def complains(lines: Iterable[str], command: str) -> bool:
    """Whether an output that nobody here reads has a word of trouble, so that it must not be taken for nothing. What zpool refuses is told elsewhere."""
    return not command.startswith(("zpool ", "zfs ", "zdb ")) and any(others.TROUBLE.search(line) for line in lines)


def situations(outputs: Iterable[ReadOutput], node: str, facts: NodeFacts | None) -> tuple[Situation, ...]:
    """What these outputs of one node say of trouble. The same thing told twice counts once, in the graver words, else in those of the output that
    shows more of it; what the other says besides is kept with it.
    """
    return once(
        situation for each in outputs for situation in each.reader.situations(each.value, Where(node, each.reader.name, each.digest, facts))
    )


def once(situations: Iterable[Situation]) -> tuple[Situation, ...]:
    """Each key once, in the graver words."""
    found: dict[str, Situation] = {}
    for situation in situations:
        before = found.get(situation.key)
        found[situation.key] = situation if before is None else _graver(before, situation)
    return tuple(found.values())


_SEVERITIES = ("act", "watch", "info")


def _graver(one: Situation, other: Situation) -> Situation:
    first, second = sorted((one, other), key=lambda each: (_SEVERITIES.index(each.severity), -len(each.evidence)))
    if second.title == first.title or first.slug != second.slug:
        return first
    return replace(first, meaning=f"{first.meaning} Another text says: {second.title}.", evidence=(*first.evidence, *second.evidence))


__all__ = [
    "READERS",
    "ReadOutput",
    "Reader",
    "Where",
    "asked",
    "begins",
    "belongs",
    "complains",
    "goes_on",
    "is_bare_command",
    "is_inside",
    "links",
    "names_a_tool",
    "of_agents",
    "once",
    "sights",
    "situations",
    "unreadable",
]  # fmt: skip
