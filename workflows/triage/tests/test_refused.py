"""What genuine imports said when they did not take place, and what a reader is told of it."""

import pytest

from agents.tests.scenarios import step
from workflows.triage import triage

DIVERGED, OTHER = "import-blocked-diverged-disk/2-import-attempts", "other-host/2-refused"


@pytest.mark.parametrize(
    ("where", "file", "words"),
    [
        (DIVERGED, "zpool-import-readonly", ("Do not destroy it", "newest data does not fit together", "`zdb -l` of every disk")),
        (DIVERGED, "zpool-import-F-X-n", ("discards the newest writes for ever",)),
        (DIVERGED, "zpool-import-F-readonly", ("Not all disks it needs could be opened",)),
        (OTHER, "zpool-import-on", ("never exported it", "or prove that it is off")),
        ("unsupported-features/2-import", "zpool-import-new1", ("too old for the pool",)),
        ("import-rewind/2-dry-runs", "zpool-import-F-n-no-such", ("No disk that it could open", "Another `zpool import` at work")),
    ],
)
@pytest.mark.parametrize("prompt", ["root@oss01:~# zpool import -o readonly=on POOL\n", ""])
def test_a_refused_import_is_explained(where, file, words, prompt):
    """Terminals show both streams as one."""
    parts = [step(where) / f"{file}.stderr.txt", step(where) / f"{file}.txt"]
    text = prompt + "".join(part.read_text() for part in parts if part.is_file())
    found = triage([("paste", text)])
    sentence = " ".join(read.reason for read in found.reads if read.source == "refused")
    for word in words:
        assert word in sentence
    assert {one.slug for one in found.situations} == {"refused-command"}


def test_its_advice_is_never_passed_on():
    output = " ".join(read.reason for read in triage([("p", (step(OTHER) / "zpool-import-on.stderr.txt").read_text())]).reads)
    assert "use 'zpool import -f'" not in output


def test_talk_about_imports_is_no_import():
    [read] = triage([("p", "I fear an I/O error, and that no such pool available is what it says\n")]).reads
    assert read.reason == "This is no output we know."


@pytest.mark.parametrize(
    ("text", "hidden"), [("no pools available to import\n", True), (step("active-on-other-host/zpool-import.txt").read_text(), False)]
)
def test_that_nothing_can_be_imported_may_be_another_imports_doing(text, hidden):
    read = triage([("p", f"root@oss01:~# zpool import\n{text}")]).reads[0]
    assert read.outcome == "read"
    assert ("hides the disks it has open" in " ".join(read.notes)) is hidden
