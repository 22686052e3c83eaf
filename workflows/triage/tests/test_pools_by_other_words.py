"""Pools in the words of exporters, monitors and refusals, listings that show no errors, and what ZFS prints right after a boot."""

import pytest

from workflows.triage.answer import triage

NODE = 'node_zfs_zpool_state{{state="online",zpool="ost_4"}} {}\nnode_zfs_zpool_state{{state="degraded",zpool="ost_4"}} {}\nnode_zfs_zpool_state{{state="suspended",zpool="ost_4"}} {}\n'
INFLUX = "zpool_stats,name=ost_4,state=ONLINE,vdev=root/raidz-0 alloc=7u,read_errors=0u,write_errors=0u,checksum_errors={}u 1700000000000000000\n"


def found(text):
    return [(one.severity, one.slug, one.title) for one in triage([("p", text)]).situations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NODE.format(1, 0, 0), []),
        (NODE.format(0, 1, 0), [("act", "vdev-degraded", "ost_4 is DEGRADED")]),
        (NODE.format(0, 0, 1), [("act", "pool-suspended", "ost_4 is suspended".replace("suspended", "SUSPENDED"))]),
        ('# HELP zfs_pool_health Health status code\nzfs_pool_health{pool="ost_4"} 4\n', [("act", "pool-down", "ost_4 is UNAVAIL")]),
        ('zfs_pool_health{pool="ost_4"} 0\n', []),
        (INFLUX.format(0), []),
        (INFLUX.format(6), [("watch", "vdev-degraded", "ost_4 counts errors")]),
        ("Subject: ZFS pool ost_4 on host oss2 is DEGRADED\n", [("act", "vdev-degraded", "ost_4 is DEGRADED")]),
        ("rpool  state: ONLINE\nost_4  state: SUSPENDED\n", [("act", "pool-suspended", "ost_4 is SUSPENDED")]),
        ("alertname = ZpoolUnhealthy\ninstance = oss2:9100\nzpool = ost_4\nstate = degraded\n", [("act", "vdev-degraded", "ost_4: an array or a pool is degraded")]),
    ],
)  # fmt: skip
def test_what_exporters_and_their_alerts_say_of_a_pool(text, expected):
    answer = triage([("p", text)])
    assert (found(text), answer.good, answer.understood) == (expected, False, True)


ROWS = "pool ost_4 - {} (0|0|0): errors: {}\nvdev raidz2-0 - ONLINE (0|0|0)\ndisk 1480 - {} ({}|0|0): was /dev/gptid/41\nvdev spares -  (0|0|0)\ndisk 77 - AVAIL (0|0|0): \n"
WELL = "No known data errors"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROWS.format("ONLINE", WELL, "ONLINE", 0), []),
        (ROWS.format("ONLINE", WELL, "OFFLINE", 0), [("act", "vdev-degraded", "1480 of ost_4 is OFFLINE")]),
        (ROWS.format("ONLINE", WELL, "ONLINE", 3), [("watch", "vdev-degraded", "ost_4 counts errors")]),
        (ROWS.format("SUSPENDED", WELL, "ONLINE", 0), [("act", "pool-suspended", "ost_4 is SUSPENDED")]),
        (ROWS.format("ONLINE", "2 data errors, use '-v' for a list", "ONLINE", 0), [("act", "data-errors", "ost_4: the reason given is DataCorruption")]),
    ],
)  # fmt: skip
def test_rows_that_a_monitor_prints_with_their_counts_are_read_and_never_good(text, expected):
    answer = triage([("p", text)])
    assert (found(text), answer.good, answer.understood) == (expected, False, True)


def test_a_check_names_the_member_and_how_full_the_pool_is():
    text = "ZFS POOL ALARM: POOL ost_4 health is DEGRADEDPOOL ost_4 has unhealthy disk sdq with state OFFLINEPOOL ost_4 usage is CRITICAL (91%)|ost_4=91%\n"
    first, second = triage([("p", text)]).situations
    assert "sdq OFFLINE" in first.meaning
    assert (second.slug, second.severity) == ("pool-filling", "watch")


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("cannot rollback to 'ost_4/a@b': more recent snapshots or bookmarks exist", "newer snapshots"),
        ("cannot import 'ost_4': Invalid exchange", "does not fit together"),
        ("cannot open 'ost_4/a': I/O error", "could not be read"),
        ("cannot trim: no devices in pool support trim operations", "TRIM"),
        ("Unable to split ost_4: Source pool must be composed only of mirrors", "mirrors"),
        ("cannot create snapshot 'ost_4/a@b': out of space", "full"),
        ("cannot discard checkpoint: there is no checkpoint in pool", "is not there"),
    ],
)
def test_a_refusal_is_known_by_its_sentence(sentence, word):
    (read,) = triage([("p", f"{sentence}\n")]).reads
    assert read.source == "refused"
    assert word in read.reason


def test_a_pool_that_is_only_listed_for_import_is_not_called_good():
    listing = "   pool: ost_4\n     id: 9073485324809284000\n  state: ONLINE\n action: The pool can be imported using its name or numeric identifier.\n config:\n\n\tost_4   ONLINE\n\t  sdq   ONLINE\n"
    (why,) = triage([("p", listing)]).not_good_because
    assert why.endswith("`zpool status -P -p` says after an import.")


def test_a_check_that_zfs_failed_in_the_first_minute_counts_and_a_reset_does_not():
    boot = "[   21.500000] VERIFY3(0 == dmu_read(os, 1, 0, 8, &x)) failed (0 == 5)\n[   21.500010] PANIC at spa.c:711:spa_open()\n[   21.500020] Showing stack for process 812\n"
    assert [(severity, slug) for severity, slug, _ in found(boot)] == [("act", "kernel-errors")]


def test_of_two_marked_members_the_one_with_more_errors_is_seen_to_first_and_no_two_at_once():
    rows = "\t    sdp  DEGRADED  0  0  9  too many errors\n\t    sdq  DEGRADED  0  0  1.2K  too many errors\n\t    sdr  ONLINE  0  0  0\n"
    tree = f"  pool: ost_4\n state: DEGRADED\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\tost_4  DEGRADED  0  0  0\n\t  raidz1-0  DEGRADED  0  0  0\n{rows}\nerrors: No known data errors\n"
    cures = {one.title.split()[-3]: one.cures for one in triage([("p", tree)]).situations if one.slug == "disk-faulted"}
    assert all("take no two out at once" in own[1].text and "Begin with sdq" in own[1].text for own in cures.values())
    assert {name: any(cure.kind == "replace" for cure in own) for name, own in cures.items()} == {"sdp": False, "sdq": True}


def test_a_nas_names_the_members_below_an_empty_line():
    text = "Current alerts:\n* Pool ost_4 state is DEGRADED: One or more devices are faulted in response to persistent errors.\nThe following devices are not healthy:\n\n    Disk ST4000VN008 ZDH00001 is FAULTED\n"
    (one,) = triage([("p", text)]).situations
    assert "ST4000VN008 ZDH00001 (FAULTED)" in one.meaning


def test_a_line_of_zpool_status_behind_a_name_is_no_line_of_a_script():
    for line in ("ann:   state: UNAVAIL\n", "ann: state: UNAVAIL\n", "oss2:  status: DEGRADED\n"):
        assert "pool_states" not in {read.source for read in triage([("p", line)]).reads}, line


def test_of_two_marked_members_none_is_replaced_while_the_counters_of_one_were_not_read():
    rows = "\t    sdp  DEGRADED  0  0  -  too many errors\n\t    sdq  DEGRADED  0  0  3  too many errors\n\t    sdr  ONLINE  0  0  0\n"
    tree = f"  pool: ost_4\n state: DEGRADED\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\tost_4  DEGRADED  0  0  0\n\t  raidz1-0  DEGRADED  0  0  0\n{rows}\nerrors: No known data errors\n"
    cures = [cure for one in triage([("p", tree)]).situations if one.slug == "disk-faulted" for cure in one.cures]
    assert cures
    assert not any(cure.kind == "replace" for cure in cures)
    assert any("was not read" in cure.text for cure in cures)


def of_truenas(status="ONLINE", healthy="true", errors=0, leaf="ONLINE", counted=0):
    return (
        f'[\n  {{\n    "id": 3,\n    "name": "ost_4",\n    "guid": "77",\n    "status": "{status}",\n    "healthy": {healthy},\n'
        f'    "scan": {{\n      "function": "SCRUB",\n      "state": "FINISHED",\n      "errors": {errors}\n    }},\n'
        f'    "topology": {{\n      "data": [\n        {{\n          "name": "mirror-0",\n          "status": "ONLINE",\n          "children": [\n'
        f'            {{\n              "disk": "sdq",\n              "status": "{leaf}",\n              "stats": {{"read_errors": {counted}}}\n            }}\n'
        "          ]\n        }\n      ]\n    }\n  }\n]\n"
    )


@pytest.mark.parametrize("above", ["", "root@nas[~]# midclt call pool.query | jq\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (of_truenas(), []),
        (of_truenas(status="DEGRADED", healthy="false"), [("act", "vdev-degraded", "ost_4 is DEGRADED")]),
        (of_truenas(status="OFFLINE", healthy="false", leaf="UNAVAIL"), [("act", "vdev-degraded", "ost_4 is OFFLINE"), ("act", "vdev-degraded", "sdq of ost_4 is UNAVAIL")]),
        (of_truenas(healthy="false"), [("act", "vdev-degraded", "ost_4: the reason given is Unhealthy")]),
        (of_truenas(counted=4), [("watch", "vdev-degraded", "ost_4 counts errors")]),
        (of_truenas(errors=2), [("act", "data-errors", "ost_4: the reason given is DataCorruption")]),
    ],
)  # fmt: skip
def test_the_pools_of_truenas_are_told_by_their_states_and_counts_and_never_good(above, text, expected):
    answer = triage([("p", above + text)])
    assert (found(above + text), answer.good, answer.understood) == (expected, False, True)


def test_json_of_truenas_that_was_cut_is_named_and_never_good():
    answer = triage([("p", of_truenas(status="DEGRADED")[:120])])
    assert (answer.situations, answer.good) == ((), False)
