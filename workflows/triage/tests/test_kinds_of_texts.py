"""Kinds of texts that people paste and that were once misread: each with our own names, in the shape that the kind has."""

from __future__ import annotations

import pytest

from workflows.triage import json_answer, triage
from workflows.vocabulary.sentences import STATUS


def answered(text: str) -> dict:
    return json_answer.answer(triage([("paste.txt", text)]))


def slugs(answer: dict) -> set[str]:
    return {one["slug"] for one in answer["situations"]}


FENCED_TREE = """  pool: vault
 state: DEGRADED
status: One or more devices could not be opened.  Sufficient replicas exist for
    the pool to continue functioning in a degraded state.
action: Attach the missing device and online it using 'zpool online'.
  scan: none requested
config:

```
NAME         STATE     READ WRITE CKSUM
vault        DEGRADED     0     0     0
  raidz1-0   DEGRADED     0     0     0
    disk-a1  UNAVAIL      0     0     0
    disk-a2  ONLINE       0     0     0
    disk-a3  ONLINE       0     0     0
```

errors: No known data errors
"""


def test_a_fence_around_the_tree_alone_parts_no_pool():
    answer = answered(FENCED_TREE)
    [pool] = answer["pools"]
    assert (pool["state"], pool["errors"]["text"]) == ("DEGRADED", "No known data errors")
    assert [text["outcome"] for text in answer["texts"]] == ["read"]
    assert "disk-missing" in slugs(answer)


def test_a_fence_around_the_tree_of_a_listing():
    answer = answered(
        """   pool: depot
     id: 4411223344556677889
  state: ONLINE
 action: The pool can be imported using its name or numeric identifier.
 config:

```
depot        ONLINE
  mirror-0   ONLINE
    disk-b1  ONLINE
    disk-b2  ONLINE
```
"""
    )
    [pool] = answer["pools"]
    assert [child["name"] for child in pool["vdevs"][0]["children"]] == ["disk-b1", "disk-b2"]


def test_what_follows_the_fence_is_another_text():
    answer = answered(FENCED_TREE.replace("errors: No known data errors\n", "Any idea?\n"))
    [pool] = answer["pools"]
    assert pool["errors"] is None


SOLARIS = """  pool: vault
    id: 9911223344556677889
 state: FAULTED
status: The pool metadata is corrupted and cannot be opened.
action: Destroy and re-create the pool from a backup source.
   see: http://sun.com/msg/ZFS-8000-72
 scrub: none requested
config:

        NAME        STATE     READ WRITE CKSUM
        vault       FAULTED      0     0     1  corrupted data
          mirror    ONLINE       0     0     0
            c4t0d0  ONLINE       0     0     0
            c4t1d0  ONLINE       0     0     0

errors: No known data errors
"""


@pytest.mark.parametrize("prompt", ["", "# zpool status -x\n"])
def test_a_status_with_an_id_is_a_status(prompt):
    answer = answered(prompt + SOLARIS)
    assert [text["source"] for text in answer["texts"]] == ["zpool_status"]
    assert slugs(answer) == {"pool-down"}


@pytest.mark.parametrize("id", ["", " 61xxxxxxxxxxxx4916"])
def test_a_listing_whose_id_was_taken_out_is_a_listing(id):
    answer = answered(
        f"""   pool: vault
     id:{id}
  state: UNAVAIL
 status: One or more devices are missing from the system.
 action: The pool cannot be imported. Attach the missing
        devices and try again.
 config:

        vault       UNAVAIL  insufficient replicas
          mirror-0  UNAVAIL  insufficient replicas
            sda     UNAVAIL
            sdb     UNAVAIL
"""
    )
    assert [text["source"] for text in answer["texts"]] == ["zpool_import"]
    assert "import-blocked" in slugs(answer)


def test_a_disk_that_cannot_be_opened_has_no_foreign_label():
    answer = answered(
        """  pool: vault
    id: 7711223344556677889
 state: FAULTED
status: One or more devices are missing from the system.
action: The pool cannot be imported.  Attach the missing devices and try again.
config:

        vault     FAULTED   insufficient replicas
          c4t0d0  ONLINE
          c4t1d0  FAULTED   cannot open
"""
    )
    [found] = [one for one in answer["situations"] if one["slug"] == "import-blocked"]
    assert found["subject"]["why"] == "missing"


@pytest.mark.parametrize(
    ("sentence", "explains"),
    [
        (
            "One or more devices has experienced an error and no valid replicas\n        are available.  Some filesystem data is corrupt.",
            "data-errors",
        ),
        ("One or more devices is currently being replaced.", "resilver-running"),
        ("There are I/O failures.", "pool-suspended"),
        ("One or more of the intent logs could not be read.", "pool-down"),
        ("The ZFS version for the pool is incompatible with the software running on this system.", "pool-down"),
    ],
)
def test_sentences_of_opensolaris_have_a_reason(sentence, explains):
    meaning = STATUS.meaning(" ".join(sentence.split()))
    assert meaning is not None
    assert explains in meaning.slugs


LABEL = """    version: 28
    name: 'vault'
    state: 0
    txg: 5123
    pool_guid: 1358522578922881900
    hostname: 'store'
    top_guid: 1201318286415886300
    guid: 8531825805962179900
"""
RULE = "-" * 44


def labels(*bodies: str) -> str:
    return "".join(f"{RULE}\nLABEL {number}\n{RULE}\n{body}" for number, body in enumerate(bodies))


def test_an_old_label_that_fails_has_a_title_too():
    lost = [f"failed to unpack label {number}\n" for number in (0, 1)]
    answer = answered("# zdb -l /dev/sdz\n" + labels(*lost, LABEL, LABEL))
    assert [text["outcome"] for text in answer["texts"]] == ["read"]
    assert answer["good"] is False


def test_a_label_cut_at_its_end_is_read():
    answer = answered("# zdb -l /dev/sdz\n" + labels(LABEL, LABEL, LABEL))
    assert [text["outcome"] for text in answer["texts"]] == ["partly"]
    assert answer["good"] is False


def test_a_device_without_any_label_is_not_called_good():
    answer = answered("# zdb -l /dev/sdz\n" + "".join(f"failed to unpack label {number}\n" for number in range(4)))
    assert answer["good"] is False


@pytest.mark.parametrize(
    "line",
    [
        "kernel: [ 2423.449656] PANIC at zio.c:542:zio_create()",
        "feb. 26 22:14:56 store kernel: PANIC at range_tree.c:262:range_tree_remove()",
        "WARNING: blkptr at ffff881ebe6d5440 has invalid CHECKSUM 0",
        "[73663.722473] blkptr at ffff880054b92048 DVA 1 has invalid VDEV 1",
        "Feb  9 22:22:29 [kern.warning] [  377.489617] PANIC at zio.c:542:zio_create()",
    ],
)
def test_a_panic_is_known_behind_every_stamp(line):
    assert "kernel-errors" in slugs(answered(line + "\n"))


def test_rows_that_somebody_took_out_are_a_gap_and_no_lonely_vdev():
    answer = answered(
        """  pool: vault
 state: ONLINE
  scan: none requested
config:

        NAME         STATE     READ WRITE CKSUM
        vault        ONLINE       0     0     0
          mirror-0   ONLINE       0     0     0
            disk-a1  ONLINE       0     0     0
            disk-a2  ONLINE       0     0     0
[...]
          disk-c1    ONLINE       0     0     0

errors: No known data errors
"""
    )
    assert answer["texts"][0]["outcome"] == "partly"
    assert answer["good"] is False
    assert "top-without-redundancy" not in slugs(answer)


OLD_LOG = """  pool: vault
 state: FAULTED
status: One or more of the intent logs could not be read.
        Waiting for administrator intervention to fix the faulted pool.
action: Either restore the affected device(s) and run 'zpool online',
        or ignore the intent log records by running 'zpool clear'.
 scrub: none requested
config:

        NAME              STATE     READ WRITE CKSUM
        vault             FAULTED      0     0     0  bad intent log
          c4t0d0          ONLINE       0     0     0
          logs            FAULTED      0     0     0  bad intent log
            c4t9d0        UNAVAIL      0     0     0  cannot open

errors: No known data errors
"""


def test_a_heading_that_has_a_state_is_a_heading():
    answer = answered(OLD_LOG)
    [pool] = answer["pools"]
    assert [(top["role"], top["name"]) for top in pool["vdevs"]] == [("data", "c4t0d0"), ("log", "c4t9d0")]
    [down] = [one for one in answer["situations"] if one["slug"] == "pool-down"]
    assert down["subject"]["why"] == "log"
    assert "disk-missing" not in slugs(answer)


def test_a_pool_that_lacks_only_its_log_is_down_for_its_log():
    answer = answered(
        """  pool: vault
 state: UNAVAIL
  scan: none requested
config:

        NAME         STATE     READ WRITE CKSUM
        vault        UNAVAIL      0     0     0  missing device
          raidz1-0   ONLINE       0     0     0
            disk-a1  ONLINE       0     0     0
            disk-a2  ONLINE       0     0     0
        logs
          mirror-1   UNAVAIL      0     0     0  insufficient replicas
            disk-l1  UNAVAIL      0     0     0
            disk-l2  UNAVAIL      0     0     0

errors: No known data errors
"""
    )
    [down] = [one for one in answer["situations"] if one["slug"] == "pool-down"]
    assert down["subject"]["why"] == "log"


@pytest.mark.parametrize(
    ("text", "why", "severity"),
    [
        ("cannot clear errors for vault: I/O error", "clear-io", "act"),
        ("cannot open 'vault': pool I/O is currently suspended", "suspended", "act"),
        ("warning: device '/dev/sdz1' onlined, but remains in faulted state", "onlined-faulted", "watch"),
        ('/dev/sdz1 is a member (ACTIVE) of pool "vault"', "active-member", "watch"),
        ("/dev/sdz1 is in use and contains a ext4 filesystem.", "filesystem", "watch"),
    ],
)
def test_refusals_are_told(text, why, severity):
    answer = answered(text + "\n")
    assert [(one["slug"], one["subject"]["why"], one["severity"]) for one in answer["situations"]] == [("refused-command", why, severity)]


def zed(number: int, disk: str, kind: str = "checksum") -> str:
    return f"Jul 22 23:02:1{number} store zed[99]: eid={number} class={kind} pool_guid=0x4A33D7952CA15249 vdev_path=/dev/disk/by-id/{disk}-part1\n"


def test_errors_in_lines_of_zed_are_told_and_one_cause_is_sought_for_many_members():
    [one] = answered(zed(1, "a"))["situations"]
    assert (one["slug"], one["severity"], one["subject"]["why"]) == ("kernel-errors", "watch", "zed")
    [many] = answered(zed(1, "a") + zed(2, "b") + zed(3, "c"))["situations"]
    assert (many["slug"], many["severity"]) == ("kernel-errors", "act")
    assert not many["runbooks"] or "replace" not in {cure["kind"] for cure in many["advice"]}


def test_a_command_that_the_kernel_called_back_is_an_error_of_its_disk():
    answer = answered(
        "sd 4:0:1:0: attempting task abort! scmd(ffff880204baee80)\n"
        "sd 4:0:1:0: [sdz] CDB: Read(10): 28 00 00 00 0a 9e 00 00 01 00\n"
        "sd 4:0:1:0: task abort: SUCCESS scmd(ffff880204baee80)\n"
    )
    assert {(one["slug"], one["subject"].get("why")) for one in answer["situations"]} == {("kernel-errors", "timeout")}


MAIL = """ZFS has detected that a device was removed.

 impact: Fault tolerance of the pool may be compromised.
    eid: 12
  class: statechange
  state: {state}
   host: store
   time: 2026-11-07 21:46:20+0000
  vpath: /dev/disk/by-id/wwn-0x5000c500aaaaaa01-part1
  vguid: 0xEA7D3A5FA3665400
   pool: vault (0xD48BD446CF382E00)
"""


@pytest.mark.parametrize(("state", "slug"), [("REMOVED", "disk-missing"), ("UNAVAIL", "disk-missing"), ("FAULTED", "disk-faulted")])
def test_a_mail_of_zed_names_the_member_by_its_guid(state, slug):
    answer = answered(MAIL.format(state=state))
    [found] = answer["situations"]
    assert (found["slug"], found["subject"]["vdev_guid"], found["subject"]["pool"]) == (slug, str(0xEA7D3A5FA3665400), "vault")
    assert "replace" not in {cure["kind"] for cure in found["advice"]}


def test_a_mail_of_a_scrub_that_ended_raises_nothing_and_shows_no_health():
    answer = answered(
        "ZFS has finished a scrub:\n\n   eid: 40\n class: scrub_finish\n  host: store\n  time: 2026-11-07 21:46:20+0000\n  pool: vault\n"
    )
    assert answer["situations"] == []
    assert answer["good"] is False


def test_a_mail_of_data_errors_and_one_of_a_class_nobody_knows():
    mail = "ZFS has detected a data error:\n\n   eid: 4\n class: {0}\n  host: store\n error: 52\n objid: 54:1234\n  pool: vault\n"
    assert slugs(answered(mail.format("data"))) == {"data-errors"}
    assert slugs(answered(mail.format("wobble"))) == {"unexplained"}


def test_a_degraded_pool_whose_rows_were_cut_off_says_how_its_member_is_found():
    answer = answered(
        """  pool: vault
 state: DEGRADED
status: One or more devices could not be used because the label is missing or
        invalid.  Sufficient replicas exist for the pool to continue
        functioning in a degraded state.
action: Replace the device using 'zpool replace'.
   see: http://zfsonlinux.org/msg/ZFS-8000-4J
  scan: none requested
config:
"""
    )
    [found] = answer["situations"]
    assert (found["slug"], found["severity"]) == ("vdev-degraded", "act")
    assert "by its guid" in found["meaning"]
    assert ["zpool", "status", "-g", "vault"] in [argv for cure in found["advice"] for argv in cure["commands"]]


def test_a_spare_that_stands_at_the_left_leaves_the_tree_as_it_is():
    answer = answered(
        """  pool: vault
 state: DEGRADED
  scan: none requested
config:

        NAME              STATE     READ WRITE CKSUM
        vault             DEGRADED     0     0     0
          raidz1-0        DEGRADED     0     0     0
            spare-0       DEGRADED     0     0     0
              replacing-0 DEGRADED     0     0     0
                disk-a1   UNAVAIL      0     0     0
                disk-n1   ONLINE       0     0     0
              disk-s1     ONLINE       0     0     0
            disk-a2       ONLINE       0     0     0
        spares
       disk-s1            INUSE     currently in use

errors: No known data errors
"""
    )
    [pool] = answer["pools"]
    assert [top["name"] for top in pool["vdevs"]] == ["raidz1-0", "disk-s1"]
    assert [child["name"] for child in pool["vdevs"][0]["children"]] == ["spare-0", "disk-a2"]


OLD_EVENT = """Apr 20 2014 01:11:45.000000001 {kind}
        class = "{kind}"
        pool = "vault"
        pool_guid = 0x10dba6cff2cf3100
        vdev_guid = 0xe62a4ffec1583500
{fields}        time = 0x53538145 0x1
"""


def test_an_old_event_has_no_number_and_its_state_is_one():
    lost = answered(OLD_EVENT.format(kind="resource.fs.zfs.statechange", fields="        vdev_state = 0x5\n"))
    [found] = lost["situations"]
    assert (found["slug"], found["subject"]["state"]) == ("disk-faulted", "FAULTED")
    assert slugs(answered(OLD_EVENT.format(kind="resource.fs.zfs.statechange", fields="        vdev_state = 0x7\n"))) == set()
    assert slugs(answered(OLD_EVENT.format(kind="ereport.fs.zfs.scrub.start", fields=""))) == set()
    assert slugs(answered(OLD_EVENT.format(kind="ereport.fs.zfs.io", fields=""))) == {"zfs-events"}


def test_an_old_import_that_lacks_its_log_is_told():
    answer = answered(
        "The devices below are missing, use '-m' to import the pool anyway:\n            nvme9n1p1 [log]\n\ncannot import 'vault': one or more devices is currently unavailable\n"
    )
    [found] = answer["situations"]
    assert found["subject"]["why"] == "missing-use-m"


def test_lines_that_a_patch_adds():
    answer = answered("".join(f"+{line}\n" for line in SOLARIS.splitlines()))
    assert [text["outcome"] for text in answer["texts"]] == ["read"]
    assert slugs(answer) == {"pool-down"}
