"""Two nodes at one shelf: what the other node has, or may have, is not imported here; what it let go of is.

Read-only where that writes nothing. Where an import of a multihost pool writes a claim first (2.3.6 and 2.4.1 on), it is refused read-only, and imported
for writing.
"""

import pytest

from agents.zfs_releases import CHECKED, asks
from lab.stage import Stage
from lab.walk import Walk

NODE, DISKS = "oss09", 4
OTHER, HOSTID = "oss08", "0badcafe"
POOL = "ost_8"
RUNBOOK, FOR_WRITING = "read-only-import", "import-pool"
CLAIMED = ("imported on host '<unknown>'", "claim could not be written")


@pytest.fixture(scope="module")
def other(stage, ann, portal, boot) -> Stage:
    """The node that has the pool. It has no agent yet; the one that has is the tests' own."""
    stage.enrol(ann)
    stage.allow("zpool_import_readonly", "zpool_export_readonly", "zpool_import_ordinary", "zpool_export_unused")
    machine = boot(OTHER, DISKS, hostid=HOSTID, disks_folder=str(stage.machine.folder / "disks"), lot=stage.machine.settings.lot)
    members = " ".join(machine.disk(n).by_id for n in range(DISKS))
    machine.guest.create_pool(f"-o ashift=12 {POOL} raidz1 {members}")
    machine.guest.sh(f"echo kept > /{POOL}/file; zpool sync {POOL}")
    stage.sh("for d in /sys/block/sd*; do blockdev --rereadpt /dev/${d##*/}; done; udevadm settle -t 30", check=False)
    return Stage(portal, machine)


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def claims(made) -> bool:
    """Whether an import of a multihost pool that another host exported writes to its disks first."""
    return asks(CHECKED, made.zfs_version)


def here(ann, words: str) -> None:
    ann.until(lambda page: words in page.text, words, f"/nodes/{NODE}/", seconds=600)


def test_a_pool_of_a_host_that_nobody_speaks_for_is_not_imported(ann, other):
    here(ann, f"Not now: {OTHER} (hostid {HOSTID.lstrip('0')}) used it last and never exported it, and that host has no agent.")


def test_with_multihost_the_other_host_is_seen_writing(ann, other):
    other.sh(f"zpool set multihost=on {POOL}")
    here(ann, f"{POOL} is imported on {OTHER} (hostid={HOSTID.lstrip('0')}) right now. Export it there; never force it here.")


def test_an_agent_there_says_that_it_has_it(stage, ann, other):
    other.trust()
    other.enrol(ann)
    other.until(lambda facts: facts["pools"], "there is a pool")
    here(ann, f"{NODE} sees {POOL}, which {OTHER} has imported")
    stage.keep("other-has-it")
    form = next((form for form in ann.page.forms if f":{RUNBOOK}:" in form.fields.get("offer", "")), None)
    assert form is not None
    assert form.buttons == []


def test_once_it_is_exported_there_it_is_imported_here_and_nothing_is_written(stage, ann, walk, other, claims):
    if claims:
        pytest.skip("Here a read-only import of it writes a claim; its way is walked below.")
    guid = other.sh(f"zpool get -Hpo value guid {POOL}").strip()
    other.sh(f"zpool export {POOL}")
    walk.begin_at(f"/nodes/{NODE}/", f"by-hand:{RUNBOOK}:{NODE}:{guid}")
    walk.insist("Check now", "Check that no host has it and enough of it is here")
    walk.order("Import it read-only", approved=True)
    ann.step("Look, and copy out what is needed")
    assert stage.sh(f"zpool get -Ho value readonly {POOL}").strip() == "on"
    walk.hands("Look, and copy out what is needed", "Looked at the datasets; nothing was copied.")
    walk.order("Let go of the pool")
    walk.until_done()
    assert stage.sh("zpool list -H -o name", check=False).split() == []


def test_where_a_read_only_import_writes_a_claim_it_is_refused_and_the_pool_imported_for_writing(stage, ann, walk, other, claims):
    if not claims:
        pytest.skip("Here a read-only import writes nothing, and is walked above.")
    guid = other.sh(f"zpool get -Hpo value guid {POOL}").strip()
    other.sh(f"zpool export {POOL}")
    here(ann, "such an import writes a claim to the disks first, whatever readonly says")
    offer = f"by-hand:{RUNBOOK}:{NODE}:{guid}"
    assert not any(form.buttons for form in ann.page.forms if form.fields.get("offer") == offer)
    refused = stage.sh(f"zpool import -o readonly=on -N -d /dev/disk/by-id {guid} 2>&1; echo exit $?", check=False)
    print(refused)
    assert any(words in refused for words in CLAIMED), refused
    assert stage.sh("zpool list -H -o name", check=False).split() == []
    walk.begin_at(f"/nodes/{NODE}/", f"by-hand:{FOR_WRITING}:{NODE}:{guid}")
    walk.insist("Check now", "Check that no host has it and all of it is here")
    walk.order("Import it, and mount nothing", approved=True)
    walk.insist("Check now", "See what is to be started")
    stage.sh(f"zfs mount {POOL}")
    walk.hands("Load keys, mount, and start what the pool serves", "It is mounted; no key is needed, and nothing else is started from it.")
    walk.until_done()
    assert stage.sh(f"zpool get -Ho value readonly {POOL}").strip() == "off"
    assert stage.sh(f"cat /{POOL}/file").strip() == "kept"
