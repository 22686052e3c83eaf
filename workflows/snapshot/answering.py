"""A question to a node without an agent, answered from its archive by the agent's own operation. It runs in a process with limits."""

import json
from collections.abc import Sequence

from agents.domain.times import iso
from agents.operations import OPERATIONS
from agents.orders.receipts import receipt
from workflows.snapshot.recorded import NotAnArchive, RecordedHost, read

ORDER, DIGEST = "order", "digest"


def answer(files: Sequence[tuple[str, bytes]]) -> str:
    """The receipt, as an agent would send it. `files`: the parts of the archive, the order's bytes and its digest."""
    held = dict(files)
    order, digest = json.loads(held[ORDER]), held[DIGEST].decode()
    operation, params = OPERATIONS[order["operation"]], order["params"]
    if operation.EFFECT != "pure" or (bad := operation.check(params)):
        return receipt(order["id"], digest, "refused", bad if operation.EFFECT == "pure" else "An archive carries nothing out.")
    try:
        recording = read(held)
        found = operation.run(RecordedHost(recording), params)
    except (NotAnArchive, OSError) as why:
        return receipt(order["id"], digest, "failed", f"Not in the archive: {why}")
    began, ended = (iso(float(recording.about[name])) for name in ("began", "ended"))
    how = {"started_at": began, "ended_at": ended, "result": found.result, "captures": found.captures}
    return receipt(order["id"], digest, found.outcome, found.reason, **how)
