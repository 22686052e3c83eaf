"""The join on genuine captures with one thing changed: what is missing stays unknown, what contradicts itself too."""

import random
from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost
from workflows.facts import FleetFacts, NodeFacts, Unknown, known, node_facts
from workflows.facts.fleet.findings import findings
from workflows.facts.read.sources import _parsed
from workflows.facts.tests.played import captures, played
from workflows.situations import detect_all

DRIFT, SIXTY, MIXED = "wwid-drift/4-import-d-dev", "sixty-disks/2-one-removed", "healthy-mixed"
SDC = "naa:5000c500a65b204b"


def joined(collected) -> NodeFacts:
    return node_facts("oss01", collected, 1.0, ())


def with_text(where, text, name=DRIFT) -> dict[str, Capture]:
    """The step's captures, with another text from one source."""
    source, _, key = where.partition("/")
    return captures(name) | {where: Capture(source, key, "data", text)}


def text(where, name=DRIFT) -> str:
    return captures(name)[where].text


def disk(facts, wwid=SDC):
    return next(d for d in facts.disks if d.wwid == wwid)


def pool(facts):
    return facts.pools[0]


def leaves(facts):
    return [leaf for _, top in pool(facts).tops for leaf in top.leaves()]


# Which fields cannot be known without a source.
NEEDS = {
    "zpool_status": lambda f: [p.tops for p in f.pools] + [pool(f).scans, pool(f).guid],  # the kernel tells of the pool itself
    "zpool_status_guid": lambda f: [leaf.guid for leaf in leaves(f) if leaf.was is None],  # an absent leaf is named by its guid
    "zpool_import": lambda f: [f.importable],
    "block": lambda f: [f.disks] + [leaf.wwid for leaf in leaves(f)],
    "node": lambda f: [f.hostname, f.hostid, f.boot_id, f.zfs_userland, f.zfs_module],
    "mounts": lambda f: [d.in_use for d in f.disks],
    "enclosure": lambda f: [f.bays] + [d.bay for d in f.disks],
    "zdb_label/sdc1": lambda f: [disk(f).labels],
}


@pytest.mark.parametrize("where", NEEDS)
@pytest.mark.parametrize(
    "broken",
    [
        Capture("", "", "failed", "", "it timed out after 20.0 s"),
        Capture("", "", "data", "what is this\n"),
        None,
    ],
    ids=["failed", "not readable", "not collected"],
)
def test_a_source_that_gave_nothing_leaves_its_fields_unknown(where, broken):
    collected = dict(captures(DRIFT))
    collected.pop(where, None)
    if broken is not None:
        collected[where] = broken
    fields = NEEDS[where](joined(collected))
    assert fields
    assert not any(known(field) for field in fields), fields
    assert (where in joined(collected).failures) == (broken is not None)


def test_no_zfs_tools_is_not_no_pools():
    facts = joined(captures(DRIFT) | {"zpool_status": Capture("zpool_status", "", "nothing", "", "zpool is not installed")})
    assert [(p.name, p.state, p.suspended) for p in facts.pools] == [("ost_1", "DEGRADED", False)]
    assert "zpool is not installed" in facts.pools[0].tops.reason
    assert "zpool_status" not in facts.failures


def test_no_pools_is_no_pools():
    assert joined(with_text("zpool_status", "no pools available\n")).pools == ()


def test_no_enclosures_is_no_bays():
    facts = joined(captures(DRIFT) | {"enclosure": Capture("enclosure", "", "nothing", "")})
    assert facts.bays == ()
    assert disk(facts).bay == Unknown("No enclosure names this disk.")


@pytest.mark.parametrize("where", ["zpool_status", "zpool_status_guid"])
def test_two_runs_that_differ_in_shape_give_no_guid(where):
    """A replacement began between the two runs."""
    lines = text(where).splitlines(keepends=True)
    fewer = "".join(line for line in lines if "was /dev" not in line)
    facts = joined(with_text(where, fewer))
    assert not any(known(leaf.guid) for leaf in leaves(facts) if leaf.was is None)
    assert "changed between them" in leaves(facts)[0].guid.reason


def test_two_disks_that_claim_one_vdev_are_not_chosen_between():
    facts = joined(with_text("zdb_label/sda1", text("zdb_label/sdc1")))
    (leaf,) = [leaf for leaf in leaves(facts) if leaf.name == "/dev/sdc1"]
    assert "2 disks carry the label" in leaf.wwid.reason


def test_a_label_that_contradicts_the_open_path_is_not_believed():
    """sda1's and sdc1's labels were read before the names moved."""
    facts = joined(
        with_text("zdb_label/sda1", text("zdb_label/sdc1")) | {"zdb_label/sdc1": replace(captures(DRIFT)["zdb_label/sda1"], key="sdc1")}
    )
    doubted = {leaf.name: leaf.wwid.reason for leaf in leaves(facts) if not known(leaf.wwid) and leaf.was is None}
    assert set(doubted) == {"/dev/sda1", "/dev/sdc1"}
    assert all("Look again." in reason for reason in doubted.values())


def test_labels_that_name_two_pools_give_no_pool_guid():
    facts = joined(with_text("zdb_label/sdc1", text("zdb_label/sdc1").replace("pool_guid: 221738468679772958", "pool_guid: 5")))
    assert "different guids" in pool(facts).guid.reason
    assert ("the labels of its disks", 5) in pool(facts).disputed


def test_zpool_get_tells_the_guid_where_no_label_was_read():
    values = {where: c for where, c in captures(DRIFT).items() if not where.startswith("zdb_label/")}
    assert pool(joined(values)).guid == 221738468679772958


def test_labels_and_zpool_get_that_differ_are_a_finding_and_no_choice():
    facts = joined(with_text("zpool_get", text("zpool_get").replace("221738468679772958", "5")))
    assert "5 by zpool get" in pool(facts).guid.reason
    (found,) = [f for f in findings(FleetFacts({"oss01": facts})) if f.kind == "guid"]
    assert (found.tone, "221738468679772958 by the labels of its disks" in found.sentence) == ("bad", True)


def test_labels_and_json_must_agree_on_the_pool_guid():
    collected = dict(captures("disk-removed-zfs2.3/2-removed"))
    collected["zpool_status_json"] = replace(
        collected["zpool_status_json"], text=collected["zpool_status_json"].text.replace("6794500405255541326", "5")
    )
    assert "6794500405255541326 by the labels of its disks" in pool(joined(collected)).guid.reason


def second_path(block_text, name="sdc", other="sdx"):
    """The same disk once more, under another name, as a second path shows it."""
    lines = block_text.splitlines()
    lines[0] += f" {other}"
    return "\n".join([*lines, *(line.replace(f"/{name}", f"/{other}") for line in lines[1:] if f"/sys/block/{name}/" in line)]) + "\n"


def test_two_paths_to_one_disk_are_one_disk():
    facts = joined(
        with_text("block", second_path(text("block"))) | {"zdb_label/sdx1": replace(captures(DRIFT)["zdb_label/sdc1"], key="sdx1")}
    )
    assert disk(facts).names == ("sdc", "sdx")
    assert [label.partition for label in disk(facts).labels] == ["sdc1", "sdx1"]
    assert len(facts.disks) == len(played(DRIFT).disks)
    assert [leaf.wwid for leaf in leaves(facts) if leaf.name == "/dev/sdc1"] == [SDC]


def test_one_path_that_does_not_answer_leaves_the_disk_unknown_and_the_member_found():
    facts = joined(with_text("block", second_path(text("block"))))
    assert disk(facts).labels == Unknown("The label of sdx1 was not read.")
    assert [leaf.wwid for leaf in leaves(facts) if leaf.name == "/dev/sdc1"] == [SDC]


def test_paths_that_disagree_about_the_size_give_no_size():
    lines = second_path(text("block")).replace("/sys/block/sdx/size:", "/sys/block/sdx/size:1")
    assert "disagree about its size" in disk(joined(with_text("block", lines))).size_bytes.reason


@pytest.mark.parametrize(
    ("mounts", "swaps", "expected"),
    [
        ("/dev/sde1 /srv ext4 rw 0 0", "", ("mounted on /srv (sde1)",)),
        ("/dev/disk/by-id/wwn-0x5000c500a65b208b /srv ext4 rw 0 0", "", ("mounted on /srv (sde)",)),
        ("ost_1/fs /ost_1 zfs rw 0 0", "/dev/sde partition 1024 0 -2", ("swap (sde)",)),
        ("ost_1/fs /ost_1 zfs rw 0 0", "", ()),
    ],
)
def test_it_says_who_uses_a_disk(mounts, swaps, expected):
    lines = [
        f"/proc/mounts:{mounts}",
        "/proc/swaps:Filename Type Size Used Priority",
        *(f"/proc/swaps:{line}" for line in swaps.splitlines()),
    ]
    block = text("block") + "/sys/block/sde/sde1/partition:1\n/sys/block/sde/sde1/size:2048\n/sys/block/sde/sde1/holders:\n"
    facts = joined(
        with_text("mounts", "\n".join(lines) + "\n")
        | with_text("block", block)
        | {"mounts": Capture("mounts", "", "data", "\n".join(lines) + "\n")}
    )
    assert disk(facts, "naa:5000c500a65b208b").in_use == expected


def test_it_says_what_holds_a_disk():
    held = text("block").replace("/sys/block/sde/holders:", "/sys/block/sde/holders:dm-3")
    reported = with_text("block", held) | {
        "mounts": Capture("mounts", "", "data", "/proc/mounts:a /b c rw 0 0\n/proc/swaps:Filename Type Size\n")
    }
    assert disk(joined(reported), "naa:5000c500a65b208b").in_use == ("held by dm-3",)


SMART = CapturedHost(step("healthy-raidz2")), "sda", "naa:5000c500a65b200b"
SMART_TEXT = step("healthy-raidz2") / "smartctl-x-sda.txt"


@pytest.mark.parametrize(
    ("verdict", "passed"),
    [("SMART Health Status: OK", True), ("SMART Health Status: FAILURE PREDICTION THRESHOLD EXCEEDED [asc=5d, ascq=0]", False)],
)
def test_health_is_the_disks_own_verdict(verdict, passed):
    host, name, wwid = SMART
    genuine = replace(COLLECTORS["smart"].collect_one(host, name), text=SMART_TEXT.read_text())
    facts = joined(captures("healthy-raidz2") | {f"smart/{name}": replace(genuine, text=genuine.text + verdict + "\n")})
    assert (disk(facts, wwid).health.passed, disk(facts, wwid).health.text) == (passed, verdict)


def test_a_disk_that_gives_no_verdict_is_not_healthy():
    """The emulated disks of the captures lack SMART, and smartctl says so and nothing more."""
    host, name, wwid = SMART
    facts = joined(captures("healthy-raidz2") | {f"smart/{name}": COLLECTORS["smart"].collect_one(host, name)})
    assert disk(facts, wwid).health == Unknown("smartctl does not say whether sda is healthy.")


def test_a_report_on_another_disk_says_nothing_about_this_one():
    """Names moved since smartctl was asked: sda's report is about the disk that was sda then."""
    host, name, wwid = SMART
    genuine = replace(COLLECTORS["smart"].collect_one(host, name), text=SMART_TEXT.read_text())
    sentence = replace(genuine, text=genuine.text.replace("0x5000c500a65b200b", "0x5000c500a65b201b") + "SMART Health Status: OK\n")
    facts = joined(captures("healthy-raidz2") | {f"smart/{name}": sentence})
    assert "is about naa:5000c500a65b201b" in disk(facts, wwid).health.reason


def bays_reported(*links):
    slots = [
        f"/sys/class/enclosure/{e}/{name}/{what}"
        for e, name, number, device in links
        for what in (f"slot:{number}", "status:OK", "locate:0", "fault:0", f"device/block:{device}")
    ]
    names = dict.fromkeys(e for e, *_ in links)
    return (
        "\n".join([f"/sys/class/enclosure:{' '.join(names)}", *(f"/sys/class/enclosure/{e}/id:0x50050cc11ac016e2" for e in names), *slots])
        + "\n"
    )


def test_a_disk_has_the_bay_that_links_to_it():
    facts = joined(with_text("enclosure", bays_reported(("6:0:89:0", "68", 68, "sdc"), ("6:0:89:0", "69", 69, ""))))
    bay = disk(facts).bay
    assert (bay.enclosure_id, bay.slot, bay.evidence) == ("0x50050cc11ac016e2", 68, 1)
    assert len(facts.bays) == 2


def test_one_enclosure_by_two_paths_is_one_enclosure():
    facts = joined(with_text("enclosure", bays_reported(("6:0:89:0", "68", 68, ""), ("7:0:89:0", "68", 68, "sdc"))))
    assert [(bay.slot, bay.device) for bay in facts.bays] == [(68, "sdc")]
    assert disk(facts).bay.slot == 68


def test_a_disk_in_two_bays_is_in_none():
    facts = joined(with_text("enclosure", bays_reported(("6:0:89:0", "68", 68, "sdc"), ("6:0:89:0", "69", 69, "sdc"))))
    assert "linked to 2 bays" in disk(facts).bay.reason


def test_a_body_of_a_capture_is_as_good_as_the_capture():
    bodies = {where: capture.body() for where, capture in captures(DRIFT).items()}
    assert joined(bodies) == joined(captures(DRIFT))
    assert joined(bodies).digests == {where: capture.digest for where, capture in captures(DRIFT).items()}


def test_a_text_is_parsed_once():
    joined(captures(SIXTY))
    before = _parsed.cache_info().misses
    joined(captures(SIXTY))
    assert _parsed.cache_info().misses == before


@pytest.mark.parametrize("name", [DRIFT, MIXED, "disk-removed/6-resilver-running"])
def test_no_text_makes_it_raise(name):
    """Mangled captures give facts or unknowns, and the situations read either."""
    rng = random.Random(name)
    for _ in range(150):
        collected = dict(captures(name))
        where = rng.choice(sorted(collected))
        collected[where] = replace(collected[where], text=mangled(collected[where].text, rng))
        detect_all(FleetFacts({"oss01": joined(collected)}))


def mangled(sentence: str, rng: random.Random) -> str:
    lines = sentence.splitlines(keepends=True)
    for _ in range(rng.randint(1, 3)):
        if lines:
            i = rng.randrange(len(lines))
            change = rng.choice(["drop", "twice", "swap", "cut"])
            if change == "drop":
                del lines[i]
            elif change == "twice":
                lines.insert(i, lines[i])
            elif change == "swap":
                lines[i], lines[-1] = lines[-1], lines[i]
            else:
                lines[i] = lines[i][: rng.randrange(len(lines[i]) + 1)]
    return "".join(lines)
