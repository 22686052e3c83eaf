"""Who may use each route: every URL of the portal, by its name, with what it asks for. A URL without a line here fails a test.

The views themselves ask; this says what they must ask, and `app/tests/test_permissions_by_route.py` tries each of them without a session and as
a person without rights.
"""

from collections.abc import Mapping

ANYBODY = "anybody"  # gives away nothing about the fleet
SIGNED_IN = "signed in"  # looking
TOKEN = "a one-time token"
TECHNICIAN = "a technician's link"  # to what one run asks of hands; app.runs.pages.technician keeps its browser out of everything else
AGENT = "an enrolled agent's signature"
HOOK = "a hook's token"
API = "an API token with the scope that the operation names"  # each operation names one; app/api/tests/test_matrix.py tries them all
METRICS = "an API token with the scope metrics, or this machine itself"
OPERATE, APPROVE, BREAK_GLASS, ENROL = "runs.operate", "runs.approve", "runs.break_glass", "nodes.enrol"
NOTICES = "notices.manage"
PEOPLE = "accounts.people"

ROUTES: Mapping[str, str] = {
    "health": ANYBODY,
    "sign-in": ANYBODY,
    "sign-out": ANYBODY,
    "account_login": ANYBODY,
    "account_inactive": ANYBODY,
    "mfa_authenticate": ANYBODY,  # after the first step, else it leads back to it
    "mfa_login_webauthn": ANYBODY,
    "openid_connect_login": ANYBODY,
    "openid_connect_callback": ANYBODY,
    "agent-download": ANYBODY,
    "account": SIGNED_IN,  # one's own
    "account-withdraw": SIGNED_IN,  # what waits of oneself
    "session-end": SIGNED_IN,
    "account_change_password": SIGNED_IN,
    "account_set_password": SIGNED_IN,
    "account_reauthenticate": SIGNED_IN,
    "mfa_index": SIGNED_IN,
    "mfa_reauthenticate": SIGNED_IN,
    "mfa_reauthenticate_webauthn": SIGNED_IN,
    "mfa_activate_totp": SIGNED_IN,
    "mfa_deactivate_totp": SIGNED_IN,
    "mfa_view_recovery_codes": SIGNED_IN,
    "mfa_generate_recovery_codes": SIGNED_IN,
    "mfa_list_webauthn": SIGNED_IN,
    "mfa_add_webauthn": SIGNED_IN,
    "mfa_remove_webauthn": SIGNED_IN,
    "usersessions_list": SIGNED_IN,
    "socialaccount_connections": SIGNED_IN,
    "fleet": SIGNED_IN,
    "node": SIGNED_IN,
    "pool": SIGNED_IN,
    "pool-damaged": SIGNED_IN,  # what the page and its evidence show, as a file
    "disk": SIGNED_IN,
    "enclosure": SIGNED_IN,
    "slot-sheet": SIGNED_IN,
    "triage": SIGNED_IN,
    "snapshot-bring": OPERATE,
    "snapshot-script": SIGNED_IN,
    "snapshot": SIGNED_IN,
    "snapshot-retire": OPERATE,
    "situation": SIGNED_IN,
    "situation-review": NOTICES,
    "search": SIGNED_IN,
    "rehearse": SIGNED_IN,  # nothing leaves
    "rehearsal": SIGNED_IN,
    "runs": SIGNED_IN,
    "run": SIGNED_IN,
    "run-start": OPERATE,
    "run-now": SIGNED_IN,
    "at-the-rack": SIGNED_IN,
    "run-act": OPERATE,  # and APPROVE or BREAK_GLASS for the acts that need them, and runs.manual alone for what hands did; see app.runs.services.NEEDS
    "technician-open": TECHNICIAN,
    "technician-step": TECHNICIAN,
    "alarms": SIGNED_IN,
    "open-loops": SIGNED_IN,
    "loop-close": OPERATE,
    "runbooks": SIGNED_IN,
    "runbook": SIGNED_IN,
    "approvals": SIGNED_IN,
    "glass-review": APPROVE,
    "look": OPERATE,
    "look-answer": SIGNED_IN,
    "looks": SIGNED_IN,
    "progress": SIGNED_IN,  # of one's own
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
    "people": PEOPLE,
    "person": PEOPLE,
    "person-add": PEOPLE,
    "person-confirm": PEOPLE,
    "person-withdraw": PEOPLE,
    "person-give": PEOPLE,
    "person-take": PEOPLE,
    "person-switch": PEOPLE,
    "person-password": PEOPLE,
    "person-factors": PEOPLE,
    "person-tokens": PEOPLE,
    "team-add": PEOPLE,
    "teams": PEOPLE,
    "node-team": PEOPLE,
    "add-node": ENROL,
    "node-agent": SIGNED_IN,
    "node-agent-revoke": ENROL,
    "notices": SIGNED_IN,
    "channel-add": NOTICES,
    "channel": NOTICES,
    "channel-change": NOTICES,
    "channel-test": NOTICES,
    "channel-remove": NOTICES,
    "notice-again": NOTICES,
    "hook-add": NOTICES,
    "hook-revoke": NOTICES,
    "alertmanager": HOOK,
    "guide": SIGNED_IN,
    "guide-page": SIGNED_IN,
    "agent-enrol": TOKEN,
    "agent-reports": AGENT,
    "agent-claim": AGENT,
    "agent-start": AGENT,
    "agent-receipt": AGENT,
    "ready": ANYBODY,
    "metrics": METRICS,
    "tokens": SIGNED_IN,  # one's own
    "token-revoke": SIGNED_IN,
    "openapi-json": ANYBODY,  # what could be asked, and nothing that is so
    "api-root": ANYBODY,
    "api-nothing": ANYBODY,
    "api-status": API,
    "api-nodes": API,
    "api-node": API,
    "api-situations": API,
    "api-situation": API,
    "api-disks": API,
    "api-disk": API,
    "api-triage": API,
    "api-snapshots": API,
    "api-runs": API,
    "api-run-start": API,
    "api-run": API,
    "api-run-act": API,
    "api-run-bundle": API,
    "api-approvals": API,
    "api-approve": API,
    "api-reject": API,
    "api-loops": API,
    "api-loop-close": API,
    "api-ledger": API,
    "api-ledger-event": API,
    "api-ledger-proof": API,
    "api-ledger-head": API,
    "api-ledger-consistency": API,
    "api-ledger-keys": API,
    "api-evidence": API,
}
# Which of them show kept evidence as it was said, and the event that says who looked. `app/tests/test_looks.py` holds it.
EVIDENCE: Mapping[str, str] = {
    "ledger-blob": "evidence.looked",
    "ledger-evidence": "evidence.looked",
    "look": "order.sealed",  # who asks is on the record by asking
    "look-answer": "evidence.looked",
    "run-bundle": "run.exported",
    "postmortem": "postmortem.looked",
    "postmortem-export": "postmortem.exported",
    "api-evidence": "evidence.looked",
    "api-run-bundle": "run.exported",
}
# What app/asgi.py answers in front of Django, by path.
DOORS: Mapping[str, str] = {
    "/events": SIGNED_IN,
    "/agent/v1/orders": AGENT,
    "/agent/v1/reports": AGENT,  # heartbeats; every other report goes on to Django
}
