"""The twin's texts against genuine ones: put in the same situation, it prints the same bytes."""

from __future__ import annotations

import calendar
import json
import re
import time
from pathlib import Path

import pytest

import agents.tests
from agents.tests.scenarios import step
from twin import scan, stories
from twin.build import add_pool, guid_of, member, top
from twin.figures import nicenum, si_size
from twin.model import Pool, Scan, Vdev
from twin.scenarios import LAB_DISK_BYTES, Clock, drifted, host, lab_disk, lab_node, leaf_on, pull, take_away, tiny
from twin.vdevs import kind_name

WWID_2 = "naa:5000c500a65b202b"
GUID = re.compile(r"\b[0-9]{15,20}\b")


def text(name, file):
    return (step(name) / file).read_text()


def guids(name):
    """The guids of a captured pool in the order `tiny` wants them: pool, raidz2, leaves."""
    labels = "".join(path.read_text() for path in step(name).glob("zdb-l-sd?1.txt"))
    found = re.search("pool_guid: ([0-9]+)", labels)
    return [int(found.group(1)) if found else 1, *map(int, GUID.findall(text(name, "zpool-status-gv.txt").split("NAME")[1]))]


def printed(node, *argv, folder, clock=None):
    ran = host(folder, node, clock or Clock()).run(argv, 10)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout.decode()


def at(date):
    """Seconds of a date as `zpool status` prints it."""
    return float(calendar.timegm(time.strptime(date, "%a %b %d %H:%M:%S %Y")))


def named_as_in(node, name):
    """Give the disks the kernel names of the lab, which did not always probe them in order."""
    lines = text(name, "lsscsi-i.txt").splitlines() if (step(name) / "lsscsi-i.txt").exists() else []
    names = {line.split()[-1]: line.split()[-2][len("/dev/") :] for line in lines}
    for disk in node.disks:
        disk.paths[0].name = names.get(f"3{disk.hex}", disk.paths[0].name)
    return node


def healthy(release, name):
    return named_as_in(tiny(release, guids=guids(name)), name)


def removed(release, name):
    node = healthy(release, name)
    pull(node, WWID_2)
    return node


def faulted(release, name):
    node = healthy(release, name)
    leaf = leaf_on(node, WWID_2)
    leaf.state, leaf.aux, leaf.errors = "FAULTED", "err_exceeded", [3, 108, 0]
    return node


def drift(release, name):
    return drifted(release, guids=guids(name))


def offlined(release, name):
    node = healthy(release, name)
    node.pools[0].name = "ost_7"
    for disk in node.disks[:6]:
        disk.partitions[0].label.pool = "ost_7"
    node.pools[0].scan = Scan("scrub", "finished", at("Sat Nov 21 08:48:10 2026"), 2.0, 1, 0)
    row = text(name, "zpool-status-P.txt").split("raidz2-0")[1].split("\n")[1:7]
    node.pools[0].tops[0].children[["OFFLINE" in line for line in row].index(True)].state = "OFFLINE"
    return node


def suspended(release, name):
    node = healthy(release, name)
    node.pools[0].name, node.pools[0].suspended = "ost_5", "mmp"
    return node


def mixed(release, name):
    """Two mirrors, a special mirror, a log, a spare."""
    ids = iter(map(int, GUID.findall(text(name, "zpool-status-gv.txt").split("NAME")[1])))
    disks = [lab_disk(n, n) for n in range(8)]
    node = lab_node(release, disks)
    tops = []
    for pair, cls in ((disks[0:2], "data"), (disks[2:4], "data"), (disks[4:6], "special")):
        own = next(ids)
        tops.append(top("mirror", own, [member(node, disk, next(ids)) for disk in pair], LAB_DISK_BYTES, cls=cls))
    tops.append(top("disk", 0, [member(node, disks[6], next(ids))], LAB_DISK_BYTES, cls="log"))
    spare = member(node, disks[7], next(ids))
    spare.state = "AVAIL"
    pool = Pool("tank", 1, tops, int(node.hostid, 16), node.hostname, spares=[spare], alloc_bytes=42565632)
    leaves = [leaf for vdev in tops for leaf in vdev.leaves()] + [spare]
    for leaf in leaves:
        leaf.enc_path = ""
    add_pool(node, pool, disks, leaves)
    return named_as_in(node, name)


def cached(release, name):
    """A mirror, a log of two, a cache device, two spares."""
    ids = iter(map(int, GUID.findall(text(name, "zpool-status-gv.txt").split("NAME")[1])))
    disks = [lab_disk(n, n) for n in range(7)]
    node = lab_node(release, disks)
    tops = []
    for pair, cls in ((disks[0:2], "data"), (disks[2:4], "log")):
        own = next(ids)
        tops.append(top("mirror", own, [member(node, disk, next(ids)) for disk in pair], LAB_DISK_BYTES, cls=cls))
    cache, *spares = (member(node, disk, next(ids)) for disk in disks[4:])
    for spare in spares:
        spare.state = "AVAIL"
    pool = Pool("scratch", 1, tops, int(node.hostid, 16), node.hostname, spares=spares, caches=[cache], alloc_bytes=42467328)
    leaves = [leaf for vdev in tops for leaf in vdev.leaves()] + [cache, *spares]
    return _put_together(node, name, pool, disks, leaves)


def draid(release, name):
    """Eight disks in a draid2 with room for one spare spread over them."""
    own, *ids, spare = map(int, GUID.findall(text(name, "zpool-status-gv.txt").split("NAME")[1]))
    disks = [lab_disk(n, n) for n in range(8)]
    node = lab_node(release, disks)
    leaves = [member(node, disk, guid) for disk, guid in zip(disks, ids, strict=False)]
    vdev = top("draid", own, leaves, LAB_DISK_BYTES, parity=2, spares=1)
    vdev.ndata, vdev.nspares, vdev.asize, vdev.metaslab_shift = 4, 1, 3321888768, 28
    spares = [Vdev(type="dspare", guid=spare, path="draid2-0-0", state="AVAIL")]
    pool = Pool("dpool", 1, [vdev], int(node.hostid, 16), node.hostname, spares=spares, alloc_bytes=65396736)
    return _put_together(node, name, pool, disks, leaves)


def _put_together(node, name, pool, disks, leaves):
    for leaf in leaves:
        leaf.enc_path = ""
        leaf.phys_path = leaf.phys_path.replace("0000:00:05.0", "0000:00:06.0")
    labels = "".join(path.read_text() for path in sorted(step(name).glob("zdb-l-sd?1.txt")))
    pool.guid = int(re.search("pool_guid: ([0-9]+)", labels).group(1))
    add_pool(node, pool, disks, leaves)
    return named_as_in(node, name)


SITUATIONS = [
    ("2.1.11-1", "healthy-raidz2", healthy),
    ("2.3.2-1", "healthy-raidz2-zfs2.3", healthy),
    ("2.1.11-1", "disk-removed/1-pulled-not-noticed", faulted),
    ("2.1.11-1", "disk-removed/2-removed", removed),
    ("2.3.2-1", "disk-removed-zfs2.3/2-removed", removed),
    ("2.1.11-1", "wwid-drift/3-import-cachefile", drift),
    ("2.3.2-1", "wwid-drift-zfs2.3/4-import-d-dev", drift),
    ("2.1.11-1", "scrub-states/11-offlined", offlined),
    ("2.1.11-1", "mmp-suspended/2-suspended", suspended),
    ("2.1.11-1", "healthy-mixed", mixed),
    ("2.3.2-1", "healthy-mixed-zfs2.3", mixed),
    ("2.1.11-1", "healthy-mixed-cache-draid/1-cache", cached),
    ("2.1.11-1", "healthy-mixed-cache-draid/2-draid", draid),
]
FILES = (
    ("zpool-status.txt", ()),
    ("zpool-status-P.txt", ("-P",)),
    ("zpool-status-gv.txt", ("-g", "-v")),
    ("zpool-status-LPv.txt", ("-LPv",)),
    ("zpool-status-s.txt", ("-s",)),
)


@pytest.mark.parametrize(("release", "name", "build"), SITUATIONS, ids=[name for _, name, _ in SITUATIONS])
def test_it_prints_the_status_that_zpool_printed(release, name, build, tmp_path):
    node = build(release, name)
    for file, options in FILES:
        if "disk-removed/1" in name and file == "zpool-status-LPv.txt":
            continue  # the disk was gone already and its by-id link with it
        assert printed(node, "zpool", "status", *options, folder=tmp_path) == text(name, file), file
        exact = re.sub(r"(?m)-$", "0", text(name, file)) if "-s" in options else text(name, file)  # with -p 0 slow I/Os, not a dash
        assert printed(node, "zpool", "status", "-p", *options, folder=tmp_path) == exact, file


DIFFERS = ("txg", "alloc_space", "scan_processed")


def without(value, keys):
    if isinstance(value, dict):
        return {key: without(item, keys) for key, item in value.items() if key not in keys}
    return value


JSONS = [
    ("healthy-raidz2-zfs2.3", healthy),
    ("disk-removed-zfs2.3/2-removed", removed),
    ("wwid-drift-zfs2.3/4-import-d-dev", drift),
    ("healthy-mixed-zfs2.3", mixed),
]


@pytest.mark.parametrize(("name", "build"), JSONS, ids=[name for name, _ in JSONS])
def test_it_says_the_same_in_json(name, build, tmp_path):
    genuine = json.loads(text(name, "zpool-status-j-json-int.txt"))
    node = build("2.3.2-1", name)
    node.pools[0].guid = next(iter(genuine["pools"].values()))["pool_guid"]
    output = json.loads(printed(node, "zpool", "status", "-j", "--json-int", "-p", folder=tmp_path))
    ours, theirs = without(output, DIFFERS), without(genuine, DIFFERS)
    for answer in (ours, theirs) if name.startswith("wwid") else ():
        _forget_phys_path(answer)
    assert ours == theirs
    assert list(output["pools"]) == list(genuine["pools"])


def _forget_phys_path(answer):
    """The drifted disks moved to other phys; the twin of them only has other names."""
    for vdev in answer["pools"]["ost_1"]["vdevs"]["ost_1"]["vdevs"]["raidz2-0"]["vdevs"].values():
        vdev.pop("phys_path")


REPLACES = [("2.1.11-1", "disk-removed", 127.0), ("2.3.2-1", "disk-removed-zfs2.3", 97.0)]


@pytest.mark.parametrize(("release", "name", "seconds"), REPLACES, ids=["2.1", "2.3"])
def test_it_prints_a_replace_from_start_to_end(release, name, seconds, tmp_path):
    """The same pool, disk and command at the same second as in the lab."""
    node = removed(release, f"{name}/2-removed")
    node.pools[0].alloc_bytes = 392404992
    node.knobs.resilver_seconds = seconds
    genuine = {n: text(f"{name}/{n}", "zpool-status.txt") for n in ("5-resilver-start", "6-resilver-running", "8-resilvered")}
    clock = Clock(at(re.search("since (.*)", genuine["5-resilver-start"]).group(1)))
    twin = host(tmp_path, node, clock)
    old = str(node.pools[0].tops[0].children[2].guid)
    ran = twin.run(("zpool", "replace", "ost_0", old, "/dev/disk/by-id/wwn-0x5000c500a65b207b"), 60)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, b"", b"")

    def status():
        return twin.run(("zpool", "status"), 5).stdout.decode()

    assert status() == genuine["5-resilver-start"]
    clock.at += seconds / 3
    assert numberless(status()) == numberless(genuine["6-resilver-running"], release)
    clock.at += seconds
    assert status() == genuine["8-resilvered"]


def numberless(sentence, release=""):
    if release.startswith("2.3"):
        # The lab's resilver was restarted once, which hides the rate of the scan; ours was not, and hides it always.
        assert "scanned at" not in sentence
    return re.sub(r"[0-9.]+[BKMGT]?(?=[ /%])", "N", sentence.split("config:")[0]) + sentence.split("config:")[1]


RUNNING = [
    ("disk-removed/6-resilver-running", (2, 1, 11), scan.Progress(392167424, 391600000, 126591644, 13640000, 0, 49)),
    ("sixty-disks/3-resilvering", (2, 1, 11), scan.Progress(166500000, 166500000, 166500000, 0, 0, 9)),
    ("disk-removed-zfs2.3/6-resilver-running", (2, 3, 2), scan.Progress(392036352, 391225344, 123801600, 14400000, 110592, 20)),
    ("sixty-disks-zfs2.3/3-resilvering", (2, 3, 2), scan.Progress(166588416, 166588416, 2630000, 139264, 144904192, 8)),
]


@pytest.mark.parametrize(("name", "release", "progress"), RUNNING, ids=[name for name, _, _ in RUNNING])
def test_it_words_progress_as_zpool_does(name, release, progress):
    genuine = re.search("  scan:.*?(?=config:)", text(name, "zpool-status.txt"), re.DOTALL).group(0)
    began = at(re.search("since (.*)", genuine).group(1))
    assert scan.running_lines(Scan("resilver", "running", began, 100.0, 0, 0), progress, release) == genuine


def like_ours(label):
    """The lab's HBA stood in another PCI slot then, and the metaslab array is where the allocator put it."""
    return re.sub("metaslab_array: [0-9]+", "metaslab_array: N", label).replace("0000:00:06.0", "0000:00:05.0")


@pytest.mark.parametrize(("release", "name"), [("2.1.11-1", "healthy-raidz2"), ("2.3.2-1", "healthy-raidz2-zfs2.3")])
def test_it_prints_the_labels_that_zdb_printed(release, name, tmp_path):
    node = healthy(release, name)
    for disk in "abcdef":
        output = printed(node, "zdb", "-l", f"/dev/sd{disk}1", folder=tmp_path)
        assert like_ours(output) == like_ours(text(name, f"zdb-l-sd{disk}1.txt"))


@pytest.mark.parametrize(("release", "name"), [("2.1.11-1", "healthy-mixed"), ("2.3.2-1", "healthy-mixed-zfs2.3")])
def test_it_prints_labels_of_mirror_special_log_and_spare(release, name, tmp_path):
    node = mixed(release, name)
    node.pools[0].guid = int(re.search("pool_guid: ([0-9]+)", text(name, "zdb-l-sda1.txt")).group(1))
    for disk in "abcdefgh":
        output = printed(node, "zdb", "-l", f"/dev/sd{disk}1", folder=tmp_path)
        assert like_ours(output) == like_ours(text(name, f"zdb-l-sd{disk}1.txt")), disk


@pytest.mark.parametrize(("name", "build"), [("1-cache", cached), ("2-draid", draid)])
def test_it_prints_labels_of_a_cache_device_and_of_a_draid(name, build, tmp_path):
    name = f"healthy-mixed-cache-draid/{name}"
    for path in sorted(step(name).glob("zdb-l-sd?1.txt")):
        output = printed(build("2.1.11-1", name), "zdb", "-l", f"/dev/{path.stem[len('zdb-l-') :]}", folder=tmp_path)
        assert like_ours(output) == like_ours(path.read_text()), path.name


@pytest.mark.parametrize("device", ["sdg", "sda-wholedisk"])
def test_it_finds_no_label_where_zdb_finds_none(device, tmp_path):
    ran = host(tmp_path, tiny(), Clock()).run(("zdb", "-l", f"/dev/{device.split('-')[0]}"), 5)
    assert ran.stdout.decode() == text("healthy-raidz2", f"zdb-l-{device}.txt")
    assert ran.exit_code == 2


def test_it_prints_the_labels_that_are_left(tmp_path):
    name = "import-blocked-labels/1-labels-0-1-garbage"
    node = tiny()
    node.disks[1].partitions[0].label.copies = [2, 3]
    ran = host(tmp_path, node, Clock()).run(("zdb", "-l", "/dev/sdb1"), 5)
    output, genuine = ran.stdout.decode(), text(name, "zdb-l-sdb1.txt")
    assert ran.exit_code == json.loads(text(name, "exit_codes.json"))["zdb-l-sdb1.txt"]["exit"]
    assert output.split("    version")[0] == genuine.split("    version")[0]
    assert output.splitlines()[-1] == genuine.splitlines()[-1]


def test_it_lists_scsi_devices_as_lsscsi_does(tmp_path):
    node = tiny()
    node.enclosures = []
    assert printed(node, "lsscsi", "-i", folder=tmp_path) == text("healthy-raidz2", "lsscsi-i.txt")
    # -w found no WWN in the lab and printed a padded 0, which -g and -s alone do not have.
    genuine = re.sub(r"0 {35}(?=/dev/sd)", "", text("healthy-raidz2", "lsscsi-g-s-w.txt"))
    assert printed(node, "lsscsi", "-g", "-s", folder=tmp_path) == genuine


def test_it_lists_the_incidents_disk_as_the_field_saw_it(tmp_path):
    """The line of the incident, its blanks apart."""
    from twin import demo

    output = printed(demo.oss01(0.0), "lsscsi", "-i", "-g", "-s", folder=tmp_path)
    line = next(line for line in output.splitlines() if "/dev/sdfl " in line)
    assert line.split() == [
        "[6:0:176:0]",
        "disk",
        "SEAGATE",
        "ST10000NM0256",
        "TT54",
        "/dev/sdfl",
        "35000c500a6754abb",
        "/dev/sg176",
        "9.79TB",
    ]


def test_it_finds_nothing_to_import(tmp_path):
    ran = host(tmp_path, tiny(), Clock()).run(("zpool", "import"), 5)
    assert ran.exit_code == 0
    assert ran.stdout.decode() == text("healthy-raidz2", "zpool-import.txt")
    assert ran.stderr.decode() == text("healthy-raidz2", "zpool-import.stderr.txt")


def exported(state):
    node = tiny(pool="ost_7")
    node.pools[0].guid = 3848334468681592697
    node.pools[0].imported, node.pools[0].state = False, state
    return node


def test_it_lists_an_exported_pool(tmp_path):
    assert printed(exported(1), "zpool", "import", folder=tmp_path) == text("scrub-states/12-exported", "zpool-import.txt")


def test_it_says_when_a_pool_was_last_used_elsewhere(tmp_path):
    node = lab_node("2.1.11-1", [lab_disk(n, n) for n in range(6)])
    for name, guid, disks in (("ost_on", 9404896043686769858, node.disks[3:]), ("ost_off", 10694689121425967020, node.disks[:3])):
        leaves = [member(node, disk, guid_of(disk.wwid)) for disk in disks]
        raidz = top("raidz", guid_of(name), leaves, LAB_DISK_BYTES, parity=1)
        add_pool(node, Pool(name, guid, [raidz], 0x5B2F9C02, "oss02", imported=False), disks, leaves)
    assert printed(node, "zpool", "import", folder=tmp_path) == text("other-host/1-last-used-by-oss01", "zpool-import.txt")


def test_it_lists_a_pool_with_a_member_away(tmp_path):
    node = exported(1)
    node.pools[0].name, node.pools[0].guid = "ost_2", 16679289448361059587
    for disk in node.disks[:6]:
        disk.partitions[0].label.pool = "ost_2"
    take_away(node, "naa:5000c500a65b203b")
    genuine = text("import-blocked-diverged-disk-ashift12/3-after-delete", "zpool-import-list.txt")
    assert printed(node, "zpool", "import", folder=tmp_path) == genuine


@pytest.mark.parametrize(("release", "name"), [("2.1.11-1", "healthy-raidz2"), ("2.3.2-1", "healthy-raidz2-zfs2.3")])
def test_it_prints_versions(release, name, tmp_path):
    genuine = text(name, "zfs-version.txt")
    exact = re.search("zfs-(.*)", genuine).group(1)
    for argv in (("zfs", "version"), ("zpool", "version"), ("zpool", "--version")):
        assert printed(tiny(exact), *argv, folder=tmp_path) == genuine


def test_it_lists_pools_as_zpool_does(tmp_path):
    node = tiny()
    node.pools[0].alloc_bytes = 95944704
    genuine = Path(agents.tests.__file__).parent / "captures" / "zpool_list" / "openzfs-2.1.11--healthy-raidz2.txt"
    assert printed(node, "zpool", "list", folder=tmp_path) == genuine.read_text()


def test_it_says_so_when_no_pool_is_imported(tmp_path):
    ran = host(tmp_path, lab_node(), Clock()).run(("zpool", "status"), 5)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, b"", b"no pools available\n")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1K"),
        (1210, "1.18K"),
        (10 * 1024, "10K"),
        (12083, "11.8K"),
        (102 * 1024 + 1, "102K"),
        (1 << 40, "1T"),
    ],
)
def test_it_rounds_as_zfs_does(number, expected):
    assert nicenum(number) == expected


@pytest.mark.parametrize(
    ("size", "expected"), [(9796820402176, "9.79TB"), (536870912, "536MB"), (201326592, "201MB"), (8001563222016, "8.00TB")]
)
def test_it_cuts_sizes_as_lsscsi_does(size, expected):
    assert si_size(size) == expected


def test_it_names_interior_vdevs():
    node = tiny()
    assert kind_name(node.pools[0].tops[0], 0) == "raidz2-0"


def _anonymous(text):
    """A `zpool status` with its WWNs numbered and its pool without a name of its own."""
    numbers = {wwn: f"wwn-{n:018}" for n, wwn in enumerate(dict.fromkeys(re.findall(r"wwn-0x[0-9a-f]{16}", text)))}
    for wwn, name in numbers.items():
        text = text.replace(wwn, name)
    return [re.sub(r"(?<=ost_)(?:0 {0,2}|20)", "0", line).replace("ost_0 ", "ost_0").split() for line in text.rstrip().splitlines()]


@pytest.mark.parametrize(
    ("story", "release", "name"),
    [
        (stories.shelf_lost, "2.1.11-1", "zpool-status-2.1.11--shelf-gone-at-once.txt"),
        (stories.backplane_lost, "2.1.11-1", "zpool-status-2.1.11--three-of-raidz3-offline.txt"),
    ],
)
def test_members_that_were_lost_together_are_told_as_a_real_node_tells_them(tmp_path, story, release, name):
    output = printed(story(0.0, release), "zpool", "status", "-P", "-p", folder=tmp_path)
    genuine = (Path(agents.tests.__file__).parent / "captures" / "zpool_status" / name).read_text()
    counts = re.compile(r"UNAVAIL +3 +[0-9]+ ")  # how many writes each missed differs
    assert _anonymous(counts.sub("UNAVAIL 3 N ", output)) == _anonymous(counts.sub("UNAVAIL 3 N ", genuine))
