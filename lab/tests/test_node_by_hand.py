"""A node whose owner only lets it be observed: the same incidents, and a person gives each command in a root shell there.

First the power cut after which names are other disks, to a replaced member; then the import ladder. On the way a forged output, a disk that changed,
a second run of the snippet and one on the next boot: each ends in the node's refusal or in UNKNOWN, and no order ever goes to the node.
"""

import pytest

from lab.tests.afterwards import orders_that_change, verified
from lab.tests.incidents import MEMBERS, NEW, drift, import_if_need_be
from lab.walk import DONE, Walk

NODE, DISKS = "oss16", MEMBERS
POOL = "ost_16"
STRANGER = "other_16"
NOTHING = "Nothing was run."


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def lost(stage, ann):
    """The member that is gone after the power cut; nobody has written the node a policy."""
    return drift(stage, ann, POOL, allowed=())


@pytest.fixture(scope="module")
def snippet(stage, walk, lost) -> str:
    """What replaces the lost member, as the page shows it once."""
    import_if_need_be(stage, POOL)
    walk.begin(f"{POOL} lost the member {lost.guid}", "wwid-mismatch-replace")
    walk.choose("Choose the new disk", stage.machine.disk(NEW).serial)
    walk.insist("Go on by hand", "Check pool, lost member and new disk")
    walk.planned("Have the node plan it", button="Plan it, to do it by hand")
    walk.confirm_and_approve("Confirm what is replaced")
    return walk.shown_by_hand("Replace the disk")


@pytest.fixture(scope="module")
def replacing(walk, snippet) -> str:
    """The address of that run."""
    return walk.path


@pytest.fixture(scope="module")
def guid(stage, replacing) -> str:
    """Of the pool, which is exported now."""
    guid = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    stage.sh(f"zpool export {POOL}")
    return guid


def test_a_forged_output_settles_nothing(stage, walk, snippet, replacing):
    (nonce,) = (line.partition("=")[2] for line in snippet.splitlines() if line.startswith("nonce="))
    page = walk.paste_back(f"slotlight: nonce {nonce}\nslotlight: ended with exit code 0, nonce {nonce}\n")
    assert "It says that the command ended with exit code 0." in page.current
    page = walk.looked()
    assert "The node shows no command that was run under the nonce of this showing." in page.text
    assert "Whether the command took effect is not known yet." in page.current
    assert stage.replaces(POOL) == []


def test_a_disk_that_changed_after_the_plan_is_found_by_the_snippet(stage, walk, snippet):
    new = stage.machine.disk(NEW)
    stage.sh(f"for i in 1 2 3; do zpool create {STRANGER} {new.by_id} && exit; udevadm settle -t 60; done; exit 1")
    printed = stage.machine.guest.paste(snippet)
    print(printed)
    stage.sh(
        f"zpool destroy {STRANGER}; zpool labelclear -f {new.by_id}-part1; wipefs -a {new.by_id}; blockdev --rereadpt {new.by_id}; udevadm settle"
    )
    assert f"slotlight: DIFFERS: disk {new.by_id}: label of pool " in printed
    assert f"slotlight: {NOTHING} Ask for a new plan" in printed
    page = walk.paste_back(printed)
    assert f"It says: DIFFERS: disk {new.by_id}" in page.current
    assert "Whether the command took effect is not known yet" in walk.looked().current
    assert stage.replaces(POOL) == []


def test_given_by_hand_it_is_settled_by_a_look_of_the_node_and_ends_verified(stage, walk, lost, snippet, replacing, tmp_path):
    printed = stage.machine.guest.paste(snippet)
    print(printed)
    assert "slotlight: ended with exit code 0, nonce " in printed
    page = walk.paste_back(printed)
    assert "It names this showing." in page.current
    assert "Whether the command took effect is not known yet" in page.current
    again = stage.machine.guest.paste(snippet)
    assert "slotlight: This was begun before: /run/slotlight/by-hand/" in again
    assert NOTHING in again
    walk.looked()
    walk.until_filled(stage.machine.guest)
    stage.keep("replaced")
    (replace,) = stage.replaces(POOL)
    assert lost.guid in replace
    assert stage.machine.disk(NEW).by_id in replace
    assert " -f" not in replace
    assert "state: ONLINE" in stage.sh(f"zpool status {POOL}")
    assert orders_that_change(stage) == "[]"
    print(verified(walk.asker, replacing, tmp_path))


def begin_import(walk, guid: str) -> str:
    """Up to the snippet that imports it read-only."""
    offer = f"by-hand:read-only-import:{NODE}:{guid}"
    walk.asker.until(
        lambda page: any(form.fields.get("offer") == offer and form.buttons for form in page.forms),
        "that it may be begun",
        f"/nodes/{NODE}/",
    )
    walk.asker.press("Start", within=offer)
    walk.insist("Go on by hand", "Check that no host has it and enough of it is here")
    walk.plan_by_hand("Import it read-only", approved=True)
    return walk.shown_by_hand("Import it read-only")


def test_the_import_ladder_is_climbed_by_hand(stage, walk, guid, tmp_path):
    printed = walk.give(stage.machine.guest, begin_import(walk, guid), "Import it read-only")
    print(printed)
    run = walk.path
    walk.asker.step("Look, and copy out what is needed")
    assert stage.sh(f"zpool get -Ho value readonly {POOL}").strip() == "on"
    walk.hands("Look, and copy out what is needed", "Looked at the datasets; nothing was copied.")
    walk.plan_by_hand("Let go of the pool")
    print(walk.give(stage.machine.guest, walk.shown_by_hand("Let go of the pool"), "Let go of the pool"))
    walk.until_done()
    assert stage.sh("zpool list -H -o name", check=False).split() == []
    assert orders_that_change(stage) == "[]"
    print(verified(walk.asker, run, tmp_path))


def test_a_snippet_of_the_boot_before_runs_nothing_and_nobody_knows(stage, walk, guid):
    snippet = begin_import(walk, guid)
    stage.machine.cut()
    stage.machine.start(tied=True)
    printed = stage.machine.guest.paste(snippet)
    print(printed)
    assert "slotlight: DIFFERS: boot id: " in printed
    assert f"slotlight: {NOTHING} Ask for a new plan" in printed
    walk.paste_back(printed)
    page = walk.looked()
    assert "The node shows no command that was run under the nonce of this showing." in page.text
    assert "Whether the command took effect is not known yet." in page.current
    assert not DONE.search(page.text)
    assert stage.sh("zpool list -H -o name", check=False).split() == []
