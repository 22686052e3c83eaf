"""What ends a use of a disk is a command that writes: it names the disk by a link, also where the portal knows none."""

import pytest

from workflows.guards import candidate
from workflows.tests.incident import BLANK_WWID, PARAMS, with_disk


@pytest.mark.parametrize("use", ["swap (sdcx1)", "crypto_LUKS", "held by md127", "mounted on /srv (sdcx1)"])
def test_no_command_of_the_refusal_names_the_disk_by_its_kernel_name(use, monkeypatch):
    monkeypatch.setattr(candidate, "path_of", lambda wwid, uuid: None)
    verdict = candidate.nothing_else_uses_the_disk(with_disk(BLANK_WWID, in_use=(use,)), {**PARAMS, "wwid": BLANK_WWID})
    assert verdict.outcome == "refuse"
    assert "/dev/sd" not in verdict.reason
