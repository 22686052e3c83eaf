"""Who may use each route: every URL of the portal, by its name, with what it asks for. A URL without a line here fails a test.

The views themselves ask; this says what they must ask, and `app/tests/test_routes.py` tries each of them as nobody and as
somebody without rights.
"""

from collections.abc import Mapping

ANYBODY = "anybody"  # gives away nothing about the fleet
SIGNED_IN = "signed in"  # looking
TOKEN = "a one-time token"
AGENT = "an enrolled agent's signature"
OPERATE, APPROVE, BREAK_GLASS, ENROL = "runs.operate", "runs.approve", "runs.break_glass", "nodes.enrol"

ROUTES: Mapping[str, str] = {
    "health": ANYBODY,
    "sign-in": ANYBODY,
    "sign-out": ANYBODY,
    "agent-download": ANYBODY,
    "fleet": SIGNED_IN,
    "node": SIGNED_IN,
    "pool": SIGNED_IN,
    "disk": SIGNED_IN,
    "triage": SIGNED_IN,
    "situation": SIGNED_IN,
    "rehearse": SIGNED_IN,  # nothing leaves
    "rehearsal": SIGNED_IN,
    "runs": SIGNED_IN,
    "run": SIGNED_IN,
    "run-start": OPERATE,
    "run-now": SIGNED_IN,
    "at-the-rack": SIGNED_IN,
    "run-act": OPERATE,  # and APPROVE or BREAK_GLASS for the acts that need them; see app.runs.services.NEEDS
    "alarms": SIGNED_IN,
    "open-loops": SIGNED_IN,
    "loop-close": OPERATE,
    "runbooks": SIGNED_IN,
    "runbook": SIGNED_IN,
    "approvals": SIGNED_IN,
    "glass-review": APPROVE,
    "look": OPERATE,
    "look-answer": SIGNED_IN,
    "ledger": SIGNED_IN,
    "ledger-event": SIGNED_IN,
    "ledger-blob": SIGNED_IN,
    "ledger-evidence": SIGNED_IN,
    "run-bundle": SIGNED_IN,
    "postmortems": SIGNED_IN,
    "postmortem": SIGNED_IN,
    "postmortem-begin": OPERATE,
    "postmortem-edit": OPERATE,
    "postmortem-collect": OPERATE,
    "postmortem-comment": SIGNED_IN,
    "postmortem-version": SIGNED_IN,
    "postmortem-export": SIGNED_IN,
    "add-node": ENROL,
    "node-agent": SIGNED_IN,
    "node-agent-revoke": ENROL,
    "agent-enrol": TOKEN,
    "agent-reports": AGENT,
    "agent-claim": AGENT,
    "agent-start": AGENT,
    "agent-receipt": AGENT,
}
# Which of them show kept evidence as it was said, and the event that says who looked. `app/tests/test_looks.py` holds it.
EVIDENCE: Mapping[str, str] = {
    "ledger-blob": "evidence.looked",
    "ledger-evidence": "evidence.looked",
    "look": "evidence.looked",
    "look-answer": "evidence.looked",
    "run-bundle": "run.exported",
    "postmortem": "postmortem.looked",
    "postmortem-export": "postmortem.exported",
}
# What app/asgi.py answers in front of Django, by path.
DOORS: Mapping[str, str] = {
    "/events": SIGNED_IN,
    "/agent/v1/orders": AGENT,
    "/agent/v1/reports": AGENT,  # heartbeats; every other report goes on to Django
}
