"""A pool that should be here cannot be imported, or must not be: which disk stands out, and what must not be tried.

`zpool import` prints what ZFS would try next, for some of these cases that the pool be made anew. None of that is repeated here:
a pool that one disk blocks is whole on the others, and a pool that lost its last seconds is not lost. A pool that another system
has imported is none of this: that is `foreign-pool-imported-elsewhere`.

The cause is decided in `_blocked`. Going back in time is spoken of only where every row is ONLINE: a pool whose disks are not attached looks
damaged, and is not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from workflows.analysis import pool_features
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, PoolTimeline, VdevFacts, known
from workflows.situations import _at_boot, _destroyed, _words
from workflows.situations._blocked import Blocked, Why, blocked, lost_of, marked_of, tolerates

SLUG = "import-blocked"
GATES = True
MANUALS: tuple[str, ...] = (
    "read-only-import",
    "device-delete-reimport",
    "import-pool",
    "import-without-log",
)  # and "rewind-import" by its answer alone
LEAVES_SHOWN = 24


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in blocked(fleet))


def _situation(one: Blocked) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{one.guid}",
        node=one.node.node,
        severity="act" if _must_act(one) else "info" if one.why == "destroyed" else "watch",
        title=_title(one),
        meaning=" ".join(filter(None, _meaning(one))),
        evidence=tuple(_evidence(one)),
        answers=_answers(one),
        subject=_subject(one),
        sure=one.why != "silence" and (len(one.diverging) == 1 or one.why in SURE),
        cures=tuple(cure if one.guid else replace(cure, argv=tuple(argv for argv in cure.argv if "0" not in argv)) for cure in _cures(one)),
        gate=_must_act(one),
    )


SURE: tuple[Why, ...] = ("features", "waiting", "hostid", "destroyed", "missing", "names")


def _answers(one: Blocked) -> tuple[Answer, ...]:
    """With disks missing or other software needed there is nothing to import yet. What writes is only offered where nothing is amiss."""
    params = {"node": one.node.node, "pool": one.name, "pool_guid": str(one.guid)}
    if one.why == "waiting" and one.guid and not one.lost:
        return (Answer("import-pool", params, "It proves that no other host has the pool, imports it, and lists what to start then."),)
    if one.why == "missing-log" and one.guid and _is_only_the_log(one):
        return (
            Answer(
                "import-without-log",
                params,
                "It proves that only the log is missing, and imports the pool without it. What stood only there is lost.",
            ),
        )
    if one.why not in ("damage", "diverged") or not one.guid:
        return ()
    looks = "It proves that no other host has the pool, and tries to import it so that nothing is written."
    away = "It takes the one disk that contradicts the others away from the kernel, brings the pool back without it, and replaces it."
    back = "It shows which points in time the disks still hold and what each costs, and copies out from one of them. The last resort."
    answers = (Answer("read-only-import", params, looks),)
    if len(one.diverging) == 1:
        return (Answer("device-delete-reimport", params, away), *answers)
    return answers if one.diverging or one.unseen_tops != 0 else (*answers, Answer("rewind-import", params, back))


def _is_only_the_log(one: Blocked) -> bool:
    """A log of which nothing was found, of a pool that comes in without it. A log that was found and cannot be read is looked at first."""
    listed = one.listed
    comes_in = listed is not None and not listed.hides_devices and (listed.state in ("ONLINE", "DEGRADED") or listed.lacks_a_log)
    tops = listed.tops if listed is not None and comes_in else ()
    logs = [top for kind, top in tops if kind == "log" and top.state == "UNAVAIL"]
    return bool(logs) and not any(lost_of(top) for kind, top in tops if kind != "log")


def _must_act(one: Blocked) -> bool:
    """Many nodes have a few stray disks of an old pool; a pool that is nearly all here is probably needed."""
    if one.why in ("diverged", "damage", "half-missing"):
        return True
    if one.why in ("names", "missing-log", "missing-top", "hostid", "unclear", "claim"):
        return one.ours or _nobodys(one)
    if one.why == "silence":
        return one.ours
    leaves = [leaf for _, top in one.listed.tops for leaf in top.leaves()] if one.listed else []
    return one.why == "missing" and (one.ours or _nobodys(one)) and 2 * sum(leaf.state == "ONLINE" for leaf in leaves) > len(leaves)


def _nobodys(one: Blocked) -> bool:
    """No disk of the node is known, so nothing shows whose it is: mostly a paste, by a person who needs the pool."""
    return not one.table and not known(one.node.disks)


def _title(one: Blocked) -> str:
    if one.why == "features":
        return f"{one.name} needs a newer OpenZFS than this node has"
    if one.why == "silence":
        return f"{one.name} is not imported, and `zpool import` does not answer"
    if one.why == "waiting":
        early = _at_boot.seen(one).too_early
        return (
            f"{one.name} was not imported at boot: its disks came later"
            if early
            else f"{one.name} is not imported, and this node had it last"
        )
    if one.why == "incomplete":
        which = _words.plural(len(one.lost), "disk") if one.lost else "a disk"
        return f"{one.name} can be imported, but without {which} of it"
    if one.why == "destroyed":
        return f"{one.name} {_destroyed.title(one)}"
    if one.why in TITLES:
        return f"{one.name} {TITLES[one.why]}"
    if len(one.diverging) == 1:
        return f"{one.name} must not be imported as it is: {_words.named(one.diverging[0].disk)} contradicts the other disks"
    return f"{one.name} cannot be imported: its newest data does not fit together"


TITLES: Mapping[Why, str] = {
    "missing": "cannot be imported: too many of its disks are missing",
    "half-missing": "cannot be imported, and disks of it are missing",
    "names": "cannot be imported: names lead to disks with other labels",
    "missing-log": "cannot be imported: its log device is missing or cannot be read",
    "missing-top": "cannot be imported: a whole device of it is missing, perhaps only its log",
    "hostid": "cannot be imported: this node has no hostid, and the pool has multihost on",
    "unclear": "cannot be imported, and the listing does not say why",
    "claim": "is called active elsewhere, by a host that is not known",
    "marked": "can be imported, and a member of it is marked DEGRADED",
}


def _meaning(one: Blocked) -> Iterator[str]:
    yield from _why_so(one)
    for other in one.namesakes:
        whole = "which can be imported" if other.state == "ONLINE" else f"which is {other.state}"
        yield f"There is another pool named {one.name}, {whole}: its id is {other.guid}, this one's is {one.id}. Name either by its id only."


def _why_so(one: Blocked) -> Iterator[str]:
    if one.why in _TEXTS_OF:
        yield from _TEXTS_OF[one.why](one)
    elif one.why == "features":
        yield from _features(one)
    elif one.why == "silence":
        yield f"Disks here carry labels of {one.name}, no node has it imported, and `zpool import` did not answer in time."
        yield from _silent_disks(one)
    elif one.why == "waiting":
        yield f"{one.name} was never exported, this node wrote its labels last, and no node that reports has it. Nothing stands in the way of an import."
        yield from _incomplete(one)
        yield from _at_boot.seen(one).sentences
        yield "If the node has just booted, its import may be about to come. Else make sure that no partner has the pool, and import it by its guid."
    elif one.why == "incomplete":
        yield f"{one.name} is not imported here, and its other disks hold the whole of it."
        yield from _incomplete(one)
        yield "Look for what is missing before the import: what comes back in time needs no replacing."
    else:
        yield from _damage(one)


def _features(one: Blocked) -> Iterator[str]:
    names = pool_features.named(one.listed.status) if one.listed else ()
    release = pool_features.needed(names)
    which = f" ({', '.join(names)})" if names else ""
    yield f"{one.name} uses features that this node's OpenZFS does not know{which}. Nothing is wrong with the pool; import it where the software is new enough."
    if release:
        yield f"OpenZFS {release} and newer has {'it' if len(names) == 1 else 'all of them'}."
    elif names:
        yield "Which release has them is not known here: ask the host that had the pool last for its `zfs version`."
    if one.listed and ("read-only mode" in one.listed.status or "readonly=on" in one.listed.action):
        yield "They are needed for writing only, so it can be imported read-only here."
    else:
        yield "They are needed for reading, too, so it cannot be imported here at all, read-only neither."


METADATA = ("special", "dedup")


def _missing(one: Blocked) -> Iterator[str]:
    yield f"Too many disks of {one.name} are not to be seen from here: {_names_of(one.lost)}."
    yield "Bring them back first (power, cable, HBA); nothing on the others is lost by waiting."
    roles = (
        tuple(dict.fromkeys(kind for kind, top in one.listed.tops if kind in METADATA and len(lost_of(top)) > tolerates(top)))
        if one.listed
        else ()
    )
    if roles:
        yield f"Among them is its {' and '.join(roles)} vdev, which holds what finds the data: without it nothing of the pool can be read, and -m does not help, as it is for logs."
    yield "Do not go back in time (-F, -X, -T) and clear no label: the pool looks damaged only because it is not all here."


def _half_missing(one: Blocked) -> Iterator[str]:
    yield f"Of {one.name} these rows are not ONLINE: {_names_of(one.lost)}. By its layout the others should be enough, and still ZFS cannot read its metadata."
    yield "Bring the missing disks back first: what is unreadable now may stand on them. Only when all are there, or are gone for ever, is it known whether more is wrong."


def _names(one: Blocked) -> Iterator[str]:
    yield f"ZFS could open {_names_of(one.lost)}, and found there no label of {one.name}, or another one."
    yield "As a rule the names moved: the disks are all there, under other names. Or only an old label was found, at the wrong end or on the wrong partition."
    yield "So many disks do not lose their labels at once. Do not create, clear or replace anything."


def _missing_log(one: Blocked) -> Iterator[str]:
    lost = _names_of(tuple(leaf for kind, top in one.listed.tops if kind == "log" for leaf in lost_of(top))) if one.listed else ""
    yield f"All data devices of {one.name} are there; its log is not{f' ({lost})' if lost else ''}, or cannot be read."
    yield LOG_LOSS


def _missing_top(one: Blocked) -> Iterator[str]:
    rows = "The rows that are listed have all that they need" if one.lost else "All rows that are listed are ONLINE"
    yield f"{rows}, but the labels say that {one.name} has one more top-level device, which no label here describes."
    yield f"Look for {_names_of(one.lost)} as well." if one.lost else ""
    yield "Mostly that is a log device. It can be a data device as well; then the pool cannot be imported without it, and trying does no harm."
    yield LOG_LOSS


LOG_LOSS = (
    "Look for it first: an NVMe or SSD that did not come up after the boot. `zpool import -m` imports without the log, and loses for ever what was acknowledged "
    "and stood only there: synchronous writes of the last seconds before it went down, of every dataset, also such as stand on another log; and what a dataset that was not mounted "
    "since an earlier crash had to replay. After a clean export of a pool with all its datasets mounted nothing is in it."
)


def _hostid(one: Blocked) -> Iterator[str]:
    yield f"{one.name} has multihost on, and this node has no hostid (/etc/hostid), so it cannot prove to the others who it is. No disk is at fault and nothing is damaged."


def _claim(one: Blocked) -> Iterator[str]:
    yield f"ZFS saw signs of activity on {one.name}, and names no host for them (hostid 0). That is no proof that another host has it, and none that no host has it."
    yield "Since 2.3.6 and 2.4.1 an import writes a claim to the disks first; one that could not be written everywhere, or the trace of this node's own crash, looks like this."


def _unclear(one: Blocked) -> Iterator[str]:
    yield f"{one.name} is {one.listed.state if one.listed else 'down'}, and every disk in the listing is ONLINE, so the rows contradict the pool. What keeps it from being imported is not in this text."
    yield "Look at the labels of all its disks (`zdb -l`), at `dmesg` during the listing, and at `zpool import -d /dev/disk/by-id`. Force nothing before that."


def _marked(one: Blocked) -> Iterator[str]:
    yield f"{one.name} is not imported here, and all its data is there. The host that had it last counted too many errors of {_names_of(marked_of(one.listed)) if one.listed else ''}."
    yield "Such a member still serves. Look at its health (`smartctl -x`), its cable and its port; the mark stays until it is cleared or replaced after the import."


_TEXTS_OF: Mapping[Why, Callable[[Blocked], Iterator[str]]] = {
    "missing": _missing,
    "half-missing": _half_missing,
    "names": _names,
    "missing-log": _missing_log,
    "missing-top": _missing_top,
    "hostid": _hostid,
    "destroyed": _destroyed.meaning,
    "unclear": _unclear,
    "claim": _claim,
    "marked": _marked,
}


def _names_of(leaves: tuple[VdevFacts, ...]) -> str:
    lines = [f"{leaf.name} ({leaf.state}{f', {leaf.note}' if leaf.note else ''})" for leaf in leaves[:LEAVES_SHOWN]]
    return ", ".join(lines) + (f" and {len(leaves) - LEAVES_SHOWN} more" if len(leaves) > LEAVES_SHOWN else "")


LOOK_BY_ID = ("zpool", "import", "-d", "/dev/disk/by-id")


def _cures(one: Blocked) -> Iterator[Cure]:
    """What helps, first things first; only what suits the cause."""
    no_other_host = "No other host has it imported."
    if one.why in ("names", "unclear", "missing-top", "missing", "half-missing"):
        yield Cure("look", "List it by stable names; that only reads. Rows that are ONLINE there were only misnamed.", (LOOK_BY_ID,))
    if one.why in ("missing", "half-missing", "missing-top", "missing-log"):
        yield Cure("reseat", "Bring the missing disks back: power, cable, HBA, shelf, multipath. `lsscsi` and `dmesg` say what is there.")
    if one.why == "destroyed":
        yield from _destroyed.cures(one)
    if one.why in ("incomplete", "waiting", "marked"):
        if one.lost or one.why == "incomplete":
            yield Cure(
                "reseat",
                "Look for the disks that it would come up without first: power, cable, HBA, shelf, moved names. What is there in time needs no replacing.",
                (LOOK_BY_ID,),
            )
        else:
            yield Cure(
                "look",
                "List it once more, and ask each other host that sees its disks whether it has it: a node that has just booted may be about to import it.",
                (LOOK_BY_ID,),
            )
        yield Cure(
            "import",
            "Import it by its id and by stable names, without mounting, then look at it. If the node has just booted, wait for its own import first.",
            ((*LOOK_BY_ID, "-N", str(one.guid)),),
            needs=f"{no_other_host} Its partner's automatic import is stopped.",
            runbook="" if one.lost or one.why != "waiting" else "import-pool",
        )
        if one.why == "waiting" and _at_boot.seen(one).failed:
            yield _at_boot.WAIT_FOR_DISKS
    if one.why == "claim":
        yield Cure(
            "look",
            "Ask every host that sees these disks for its `zpool list`, and look in `dmesg` for disks that failed during the import.",
        )
        yield Cure(
            "import",
            "If none has it, import it again by its id after a minute, without -f.",
            (("zpool", "import", str(one.guid)),),
            needs=no_other_host,
        )
    if one.why == "names":
        yield Cure(
            "import", "If it is whole there, import it by its id from that folder.", ((*LOOK_BY_ID, str(one.guid)),), needs=no_other_host
        )
    if one.why in ("missing-log", "missing-top"):
        text = "Only when the log is gone for ever: import without it, then remove it by its guid."
        yield Cure(
            "import-without-log",
            text,
            (("zpool", "import", "-m", str(one.guid)),),
            needs=no_other_host,
            runbook="import-without-log" if _is_only_the_log(one) else "",
            save_first="What stands only in the log is lost: " + LOG_LOSS.split(": ")[-1],
        )
    if one.why == "hostid":
        yield Cure(
            "zgenhostid",
            "Give this node a hostid of its own, once; reboot or reload the module so that ZFS sees it, then import.",
            (("zgenhostid",),),
            releases="0.7.4 and newer",
            needs="No other node has the same hostid.",
        )
        yield Cure("import", "Then import it by its id.", ((*LOOK_BY_ID, "-N", str(one.guid)),), needs=no_other_host, runbook="import-pool")
    if one.why == "features" and one.listed and ("read-only mode" in one.listed.status or "readonly=on" in one.listed.action):
        yield Cure(
            "import", "Import it read-only here, to read.", (("zpool", "import", "-o", "readonly=on", str(one.guid)),), needs=no_other_host
        )
    if one.why == "features":
        yield Cure("upgrade", "Install a release that has these features, or attach the disks to a node that has it.")
    if one.why == "silence":
        yield Cure(
            "look",
            "Find the disk that does not answer: the kernel's log names commands that time out. Start no second scan meanwhile.",
            (("dmesg",),),
        )
        yield Cure("reseat", "Take that disk out at its bay, or mend its cable, and list the pools once more: a scan waits for every disk.")
    if one.why in ("damage", "diverged"):
        yield Cure(
            "look",
            "Read the labels and uberblocks of every disk (`zdb -lu`) and look for the one whose txg, host or time differs from all others.",
            runbook="read-only-import",
        )


def _incomplete(one: Blocked) -> Iterator[str]:
    lost = one.lost
    if lost:
        names = ", ".join(leaf.name for leaf in lost[:LEAVES_SHOWN])
        yield f"It will come up without {names} ({', '.join(dict.fromkeys(leaf.state for leaf in lost))}); replace {'it' if len(lost) == 1 else 'them'} by guid afterwards."
    elif one.why == "incomplete":
        yield "The listing calls it DEGRADED, and its rows are not here: which disk it lacks is not known."


def _damage(one: Blocked) -> Iterator[str]:
    if not one.diverging:
        yield from _no_disk_stands_out(one)
        return
    for suspect in one.diverging:
        yield f"{_words.where(suspect.disk)} stands out: {'; '.join(clue.sentence for clue in suspect.clues)}."
    if len(one.diverging) > 1:
        yield "More than one disk stands out, so which of them hold the right state cannot be decided by rule. Change nothing and get a second person to look."
        return
    yield "ZFS takes the newest uberblock of any disk, and parity does not vote on it, so this one disk decides how the whole pool looks."
    yield _without(one)
    yield "Neither force the import nor rewind it (-f, -F, -X, -T) while this disk is there."


def _without(one: Blocked) -> str:
    """Whether the others are enough, as far as the listing shows."""
    suspect, margin = one.diverging[0], _margin_without(one)
    if margin is None:
        return f"Whether the pool is whole without it is not known. If it is, the way is a read-only import without {_words.named(suspect.disk)}."
    if margin < 0:
        return "Without it too many disks are missing, so it cannot simply be left out."
    return (
        f"The others hold the whole pool and survive {_words.plural(margin, 'more loss', 'more losses')}: take {_words.named(suspect.disk)} away from "
        f"the kernel (its data stays as it is), import {one.id} read-only, and compare before anything is written."
    )


def _margin_without(one: Blocked) -> int | None:
    """Of the top-level vdev that names the suspect's disk, once that is gone."""
    links = {link.rsplit("/", 1)[-1] for path in one.diverging[0].disk.paths for link in path.by_id} | set(one.diverging[0].disk.names)
    for _, top in one.listed.tops if one.listed else ():
        if any(leaf.name in links for leaf in top.leaves()):
            bad = sum(leaf.state != "ONLINE" and leaf.name not in links for leaf in top.leaves()) + 1
            return tolerates(top) - bad
    return None


def _no_disk_stands_out(one: Blocked) -> Iterator[str]:
    txgs = {row.label.txg for row in one.table}
    if len(one.table) > 1 and len(txgs) == 1:
        yield f"No disk stands out: all {len(one.table)} labels that were read agree (txg {next(iter(txgs))}). So it is not one bad disk that can be left out."
        yield "The last writes before it went down are missing or damaged on all of them."
    elif one.table:
        yield "No single disk stands out by its label. Compare the uberblocks of all disks before anything else."
    else:
        yield ONE_OF_MANY
    yield from _moments(one)
    if one.unseen_tops == 0:
        yield "Going back a few transactions (a rewind) discards the last seconds for ever, so a person decides it, and tries it read-only first."
    else:
        yield _may_lack_a_top(one)
    hosts = {row.label.hostname for row in one.table if row.label.hostname and row.label.state == 0}
    if hosts:
        yield f"It was never exported: {' and '.join(sorted(hosts))} used it last. Make sure that no other system has it before any -f."


def _may_lack_a_top(one: Blocked) -> str:
    if one.unseen_tops is None:
        text = "Whether all its top-level vdevs were found is not known: one of which no disk was found has no row here. The labels count them (`vdev_children` of `zdb -l`)."
    else:
        text = f"Its labels count {_words.plural(one.unseen_tops, 'top-level vdev')} more than the listing shows: missing, or removed long ago."
    return f"{text} Going back in time (a rewind) brings no missing disk back and costs data, so nothing of it before that is settled."


ONE_OF_MANY = (
    "Every disk in the listing is ONLINE and the pool is called corrupted all the same. That is what it looks like when one disk contradicts all "
    "others, for example one that another host wrote to or that lost its writes: ZFS takes the newest uberblock of any disk, and parity does not vote on it. "
    "How to find it: `zdb -lu` of every disk, and compare txg, hostname and time; or `zdb -e POOL -d DISK` with one disk after the other, where the bad one gives "
    'an I/O error. Without that disk the pool comes in DEGRADED, with "label is missing or invalid" for it, and it is then replaced by its guid.'
)


def _timeline(one: Blocked) -> PoolTimeline | None:
    return next((t for t in one.node.timelines if t.pool_guid == one.guid), None) if known(one.node.timelines) else None


def _moments(one: Blocked) -> Iterator[str]:
    timeline = _timeline(one)
    whole = timeline.common() if timeline is not None and len(timeline.disks) == len(one.table) else ()
    if whole:
        last = whole[-1]
        yield (
            f"All its disks hold the same {_words.plural(len(whole), 'uberblock')}, from txg {whole[0].txg} back to {last.txg}, "
            f"{last.seconds_before_newest} s before the newest."
        )


def _silent_disks(one: Blocked) -> Iterator[str]:
    """Disks whose labels could not be read are what a scan for pools waits for."""
    disks = one.node.disks if known(one.node.disks) else ()
    silent = [disk for disk in disks if not known(disk.labels)]
    if silent:
        named = ", ".join(_words.where(disk) for disk in silent[:4])
        yield f"The labels of {_words.plural(len(silent), 'disk')} could not be read ({named}): a scan for pools waits for every disk."
        yield "Take such a disk away from the kernel, or pull it, and look again."
    else:
        yield "Look at the kernel's log for commands that time out, and again in a few minutes."


def _evidence(one: Blocked) -> Iterator[Evidence]:
    if one.listed is not None:
        yield _words.evidence(one.node, "zpool_import", f"{one.name}  id {one.id}  state {one.listed.state}  {one.listed.status}".rstrip())
        for leaf in one.lost[:LEAVES_SHOWN]:
            yield _words.evidence(one.node, "zpool_import", f"{leaf.name}  {leaf.state}  {leaf.note}".rstrip())
    elif "zpool_import" in one.node.failures:
        yield _words.evidence(one.node, "zpool_import", one.node.failures["zpool_import"])
    for row in one.table[:LEAVES_SHOWN]:
        label = row.label
        copies = " ".join(map(str, label.copies))
        text = f"{label.partition}: txg {label.txg}, last written by {label.hostname or label.hostid}, guid {label.guid}, copies {copies}"
        yield _words.evidence(one.node, f"zdb_label/{label.partition}", text)
    if one.why == "waiting":
        yield from _at_boot.seen(one).evidence
    for suspect in one.suspects:
        for clue in suspect.clues:
            yield _words.evidence(one.node, clue.source, f"{suspect.disk.names[0]}: {clue.sentence}")


def _subject(one: Blocked) -> dict[str, str]:
    fields = {"node": one.node.node, "pool": one.name, "why": one.why} | ({"pool_guid": str(one.guid)} if one.guid else {})
    if len(one.diverging) == 1 and known(one.diverging[0].disk.wwid):
        fields |= {"wwid": one.diverging[0].disk.wwid}
    return fields
