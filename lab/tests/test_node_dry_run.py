"""`zpool import -F -n` on a real node: once it really imports, because nothing has to be discarded, and once it offers a rewind.

The newest root block cannot be read while the pool is imported, and can again a moment later, as with a loose cable: nothing has to be discarded.
Then the power fails, and the newest root block never reached the disks, although they said so: the txg before it is the newest whole one.

Without the power cut there is nothing to offer. An export writes every label in its last txg, and ZFS rewinds to no txg that is older than every label.
"""

import pytest

from lab.roots import SECTOR, newest_root
from lab.walk import Walk

NODE, DISKS = "oss10", 2
POOL = "ost_10"


@pytest.fixture(scope="module")
def walk(ann, bob):
    return Walk(ann, bob)


@pytest.fixture(scope="module")
def exported(stage, ann) -> str:
    """The guid of a pool that waits to be imported."""
    members = " ".join(stage.machine.disk(n).by_id for n in range(DISKS))
    stage.machine.guest.create_pool(f"-o ashift=12 {POOL} mirror {members}")
    for n in range(8):
        stage.sh(f"dd if=/dev/urandom of=/{POOL}/{n} bs=1M count=2 2>/dev/null; zpool sync {POOL}; sleep 1")
    guid = stage.sh(f"zpool get -Hpo value guid {POOL}").strip()
    stage.enrol(ann)
    stage.allow("zpool_import_readonly", "zpool_import_dry_run", "zpool_import_rewind", "zpool_export_readonly")
    stage.until(lambda facts: facts["pools"], "there is a pool")
    stage.sh(f"zpool export {POOL}")
    return guid


@pytest.fixture(scope="module")
def sectors(stage, exported) -> list[int]:
    """Of every copy of the newest root block, on each side of the mirror alike."""
    _, copies = newest_root(stage.machine.disk(0).image)
    return [copy.offset // SECTOR for copy in copies]


def unreadable(stage, sectors: list[int]) -> None:
    """Or readable again, when none are named."""
    rules = [{"event": "none", "iotype": "read", "errno": 5, "sector": sector} for sector in sectors]
    for number in range(DISKS):
        stage.machine.errors(number, rules)


def the_newest_root_is_lost(stage) -> None:
    """More is written, the power fails, and no disk has the last of it."""
    stage.machine.guest.import_pool(POOL)
    for n in range(8):
        stage.sh(f"dd if=/dev/urandom of=/{POOL}/{n} bs=1M count=2 2>/dev/null; zpool sync {POOL}; sleep 1")
    stage.machine.cut()
    (txg, copies), (same, _) = (newest_root(stage.machine.disk(number).image) for number in range(DISKS))
    assert txg == same
    for number in range(DISKS):
        for copy in copies:
            stage.machine.disk(number).lose(*copy)
    stage.machine.start(tied=True)


def to_the_button_that_imports(ann, walk, guid: str) -> None:
    offer = f"by-hand:read-only-import:{NODE}:{guid}"
    ann.until(
        lambda page: any(form.fields.get("offer") == offer and form.buttons for form in page.forms),
        "that it may be begun",
        f"/nodes/{NODE}/",
        seconds=280,  # ZED rings when the pool is exported; else it would be seen up to five minutes later
    )
    ann.press("Start", within=offer)
    walk.insist("Check now", "Check that no host has it and enough of it is here")
    walk.plan("Import it read-only", approved=True)
    ann.step("Import it read-only")


def to_the_button_that_asks(stage, ann, walk) -> None:
    """From an import that did not come in."""
    ann.step("Choose how to go on")
    assert stage.sh("zpool list -H -o name", check=False).split() == []
    walk.choose("Choose how to go on", "Ask what a rewind would discard")
    walk.plan("Ask what a rewind would discard", approved=True)
    ann.step("Ask what a rewind would discard")


def test_a_dry_run_that_really_imports_is_noticed_and_dealt_with(stage, ann, walk, exported, sectors):
    """What the plan rests on is read again right before the command, so the disks change in the middle of it, as a loose cable does."""
    to_the_button_that_imports(ann, walk, exported)
    stage.catch("zpool", "import", exported)
    ann.press("Import it read-only")
    command = stage.caught()
    unreadable(stage, sectors)
    stage.sh(f"kill -CONT {command}")
    to_the_button_that_asks(stage, ann, walk)
    stage.catch("zpool", "import", "-F", exported)
    ann.press("Ask what a rewind would discard")
    command = stage.caught()
    unreadable(stage, [])
    stage.sh(f"kill -CONT {command}")
    ann.step("Choose by its result")
    print(ann.page.text)
    assert stage.sh(f"zpool get -Ho value readonly {POOL}").strip() == "on"
    walk.choose("Choose by its result", "The dry run has imported the pool, read-only")
    walk.hands("Look, and copy out what is needed", "Looked at the datasets; nothing was copied.")
    walk.order("Let go of the pool")
    walk.until_done()
    assert stage.sh("zpool list -H -o name", check=False).split() == []


def test_a_rewind_is_offered_in_the_tools_own_words_and_imports_read_only(stage, ann, walk, exported):
    the_newest_root_is_lost(stage)
    to_the_button_that_imports(ann, walk, exported)
    ann.press("Import it read-only")
    to_the_button_that_asks(stage, ann, walk)
    ann.press("Ask what a rewind would discard")
    page = ann.step("Choose by its result")
    stage.keep("rewind-offered")
    print(page.text)
    assert stage.sh("zpool list -H -o name", check=False).split() == []
    walk.choose("Choose by its result", "Import it as it was then, read-only")
    walk.order("Import it as it was then, read-only", "Confirm what is left out")
    ann.step("Look, and copy out what is needed")
    assert stage.sh(f"zpool get -Ho value readonly {POOL}").strip() == "on"
    print(stage.sh(f"zpool status {POOL}"))
