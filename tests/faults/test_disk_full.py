"""The agent's disk is full when an order comes: nothing runs, the page says why, and with room again a new plan leads on.

A process that may not write past one block stands for the full disk: SQLite and the kernel then say the same to it.
"""

import resource

import pytest

from app.runs.models import Order
from tests.faults.stack import Stack

BLOCK = 4096


def limit(stack: Stack, size: int) -> None:
    resource.prlimit(stack.children["agent"].pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("incident", [0.0], indirect=True, ids=[""])
def test_nothing_runs_on_a_node_that_cannot_write_its_journal(incident):
    stack = incident.stack
    incident.walk_to_execute()
    limit(stack, BLOCK)
    incident.execute()
    incident.stands("replace", "stopped")
    assert Order.objects.get(effect="at_most_once").status == "REFUSED"
    assert stack.replaces() == []
    seen = incident.ann.sees()
    assert "nothing was run" in seen
    assert "journal" in seen

    limit(stack, resource.RLIM_INFINITY)
    incident.walk_from_plan()
    incident.execute()
    incident.stands("verify", "done")
    assert len(stack.replaces()) == 1
