"""The reasons of `status:`: every wording leads to its own reason, cut or whole, and unknown words lead to none."""

import pytest

from workflows.facts.status_reasons import BY_NAME, REASONS, message_id, reason_of

PIECES = [(reason.name, pieces) for reason in REASONS for pieces in reason.sentences]


@pytest.mark.parametrize(("name", "pieces"), PIECES)
def test_each_sentence_leads_to_its_own_reason(name, pieces):
    assert reason_of(".\n\t".join(piece.capitalize() for piece in pieces)).name == name


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("One or more devices could not be opened.  There are insufficient\n\treplicas for the pool.", "MISSING_DEV_NR"),
        ("One or more devices could not be opened.  Sufficient replicas exist for\n\tthe pool.", "MISSING_DEV_R"),
        ("One or more devices are faulted in response to persistent errors.", "FAULTED_DEV_R"),
        ("One or more devices are faulted in response to IO failures.", "IO_FAILURE_WAIT"),
        ("One or more devices has been removed by the administrator.", "REMOVED_DEV"),
        ("Some supported and requested features are not enabled on the pool.", "FEAT_DISABLED"),
        ("Some supported features are not enabled on the pool.", "FEAT_DISABLED"),
        ("The pool metadata is incomplete or corrupted and the pool cannot be opened.", "CORRUPT_POOL"),
        ("Errata #4 detected.\n\tExisting encrypted snapshots", "ERRATA"),
    ],
)
def test_a_wording_as_it_is_printed_is_known(status, name):
    assert reason_of(status).name == name


def test_the_sentence_wins_over_the_id():
    """0.7.9 to 0.7.13 print the id of a bad log for a multihost suspension."""
    mmp = "The pool is suspended because multihost writes failed or were delayed;"
    assert reason_of(mmp, "http://zfsonlinux.org/msg/ZFS-8000-K4").name == "IO_FAILURE_MMP"


@pytest.mark.parametrize(
    "see",
    ["http://www.sun.com/msg/ZFS-8000-9P", "https://illumos.org/msg/ZFS-8000-9P", "https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-9P"],
)
def test_an_id_is_known_under_every_address(see):
    assert (message_id(see), reason_of("", see).name) == ("ZFS-8000-9P", "FAILING_DEV")


def test_an_id_of_several_reasons_alone_decides_nothing():
    assert reason_of("", "https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-EY") is None


def test_unknown_words_and_unknown_ids_lead_to_no_reason():
    assert reason_of("One or more devices are painted green.") is None
    assert reason_of("Something new.", "https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-9P") is None
    assert reason_of("", "https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-ZZ") is None


def test_whatever_is_wrong_names_a_situation():
    assert all(reason.slugs for reason in REASONS)
    assert {name for name, reason in BY_NAME.items() if reason.neutral} == {
        "VERSION_OLDER",
        "FEAT_DISABLED",
        "COMPATIBILITY_ERR",
        "INCOMPATIBLE_FEAT",
    }
