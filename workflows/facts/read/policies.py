"""What the owner of a node lets the portal do there, as its agent reports it under the source `agent`."""

from __future__ import annotations

from agents.orders.policy import Policy, reported
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, known

LINE = "policy:"
NOT_REPORTED = Unknown("Its agent does not report its policy; one of this release does.")

# An agent of before it reported its policy looks at approvals only where an operation destroys.
OLDER = Unknown("Its agent is older than this portal: it neither reports its policy nor checks who approved an order.")


def read_policy(sources: Sources) -> Known[Policy]:
    return sources.once("policy", lambda: _read(sources))


def _read(sources: Sources) -> Known[Policy]:
    reading = sources.text("agent")
    line = next((line for line in reading.splitlines() if line.startswith(LINE)), None) if known(reading) else None
    if line is None:
        return OLDER if known(reading) else NOT_REPORTED
    return reported(line[len(LINE) :]) or Unknown("What its agent reports of its policy was not understood.")
