"""What ZFS prints as a notice (CE_NOTE) while it imports is nothing to look into; the same pool's warning is."""

import pytest

from agents.collectors._kernel_lines import counts


@pytest.mark.parametrize("before", ["", "NOTICE: "])  # Linux prints the level before the text
@pytest.mark.parametrize("text", ["activity check required, 30 seconds remaining", "activity check completed successfully"])
def test_a_check_for_another_host_is_no_trouble(before, text):
    """spa_activity_check and what calls it in module/zfs/spa.c, since 2.3.6 and 2.4.1."""
    assert not counts(f"{before}pool 'ost_8' {text}")


def test_a_check_that_was_interrupted_is_shown():
    assert counts("WARNING: pool 'ost_8' activity check, interrupted import during tryimport")
