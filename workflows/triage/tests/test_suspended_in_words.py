"""A suspended pool in the words of the kernel, where somebody quotes them within a sentence, and with the prefix that FreeBSD puts before them."""

from __future__ import annotations

import pytest

from workflows.triage import triage

SUSPENSION = "WARNING: Pool 'linden' has encountered an uncorrectable I/O failure and has been suspended."


@pytest.mark.parametrize(
    "text",
    [
        f"The console shows again and again `{SUSPENSION}` and then the node hangs.\n",
        "The log has `WARNING: Pool 'linden' has encountered an uncorrectable I/O failure and\nhas been suspended.`:\n",
        f"Solaris: {SUSPENSION}\n",
    ],
    ids=["within a sentence", "over two lines", "of FreeBSD"],
)
def test_the_pool_is_suspended(text: str):
    answer = triage([("p", text)])
    assert [(one.slug, one.severity, one.gate) for one in answer.situations] == [("pool-suspended", "act", True)]
    assert not answer.good


def test_alerts_of_the_older_interface_are_read_by_their_message():
    text = '{\n  "objects": [\n    {\n      "level": "CRITICAL",\n      "message": "Pool linden state is DEGRADED: One or more devices are faulted.",\n      "timestamp": 1577122877\n    }\n  ]\n}\n'
    answer = triage([("p", text)])
    assert [one.slug for one in answer.situations] == ["vdev-degraded"]
    assert not answer.good
