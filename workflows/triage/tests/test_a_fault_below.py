"""What the kernel says of a fault is never lost below another output: each text that the tests have, with such lines at its end."""

from __future__ import annotations

import pytest

from workflows.triage import triage
from workflows.triage.tests.test_cut_anywhere import TEXTS

FAULTS = {
    "FreeBSD, USB": "(da0:umass-sim0:0:0:0): SCSI sense: MEDIUM ERROR asc:11,0 (Unrecovered read error)\n(da0:umass-sim0:0:0:0): Error 5, Retries exhausted\n",
    "FreeBSD, HBA": "(da4:mps0:0:9:0): CAM status: Command timeout\n(da4:mps0:0:9:0): Error 5, Retries exhausted\n",
    "Linux": "[ 9313.070231] blk_update_request: critical medium error, dev sdq, sector 1216 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_fault_that_the_kernel_tells_of_at_the_end_is_not_good(name, fault):
    judged = triage([("pasted", TEXTS[name].rstrip("\n") + "\n" + FAULTS[fault])])
    assert not judged.good
