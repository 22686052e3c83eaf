"""Every page of the portal that can be opened by an address in the demo fleet, and who opens it."""

SDFL = "naa:5000c500a6754abb"
SHELF = "0x50050cc11ac016e2"

PAGES = {  # title -> (who, path)
    "fleet": ("operator", "/"),
    "fleet, one node's troubles": ("operator", "/?node=oss01"),
    "search": ("operator", "/search/?q=5000c500a675"),
    "node": ("operator", "/nodes/oss01/"),
    "pool": ("operator", "/nodes/oss01/pools/ost_0/"),
    "pool that resilvers": ("operator", "/nodes/oss02/pools/ost_2/"),
    "disk": ("operator", f"/disks/{SDFL}/"),
    "disk in a pool": ("operator", "/disks/naa:5000cca273a7d9e8/"),
    "enclosure": ("operator", f"/nodes/oss01/enclosures/{SHELF}/"),
    "enclosure by pool, one vdev pointed out": (
        "operator",
        "/nodes/mds01/enclosures/0x50050cc10f2a4dff/?tint=pool&vdev=13196163391634888197",
    ),
    "slot sheet": ("operator", f"/nodes/oss01/enclosures/{SHELF}/sheet/"),
    "agent": ("operator", "/nodes/oss01/agent/"),
    "runs": ("operator", "/runs/"),
    "runbooks": ("operator", "/runbooks/"),
    "a runbook": ("operator", "/runbooks/blink-and-replace/"),
    "at the rack": ("operator", "/now/"),
    "open loops": ("operator", "/open-loops/"),
    "approvals": ("approver", "/approvals/"),
    "triage by paste": ("operator", "/triage/"),
    "bring a host": ("operator", "/snapshots/bring/"),
    "ledger": ("operator", "/ledger/"),
    "ledger event": ("operator", "/ledger/1/"),
    "postmortems": ("operator", "/postmortems/"),
    "notices": ("admin", "/notices/"),
    "add a channel": ("admin", "/notices/channels/add/"),
    "guide": ("viewer", "/docs/"),
    "a page of the guide": ("viewer", "/docs/start/"),
    "account": ("operator", "/account/"),
    "tokens": ("operator", "/account/tokens/"),
    "authenticator app": ("operator", "/account/app/"),
    "add a passkey": ("operator", "/account/passkeys/add/"),
    "change password": ("operator", "/account/password/"),
    "people": ("admin", "/people/"),
    "a person": ("admin", "/people/of/technician/"),
    "which team has which node": ("admin", "/people/teams/"),
    "add a node": ("admin", "/add-node/"),
}
# Shown by the walks, because something must have happened first; each is looked at there.
WALKED = frozenset(
    (
        "situation",
        "run",
        "run-now",
        "run-act",
        "rehearsal",
        "snapshot",
        "technician-open",
        "technician-step",
        "look",
        "looks",
        "ledger-evidence",
        "postmortem",
        "postmortem-edit",
        "postmortem-version",
        "account_login",
        "mfa_authenticate",
        "mfa_deactivate_totp",
        "mfa_view_recovery_codes",
        "mfa_remove_webauthn",
        "channel",
    )
)
# Addresses that show no page of their own: what a form sends to, a file, a part of a page, or a way to somewhere else.
NO_PAGE = frozenset(
    (
        *("health", "ready", "metrics", "sign-in", "sign-out", "agent-download", "alarms", "alertmanager", "openapi-json"),
        *("account_inactive", "mfa_login_webauthn", "openid_connect_login", "openid_connect_callback"),
        *("mfa_index", "mfa_list_webauthn", "usersessions_list", "socialaccount_connections", "account_set_password"),
        *("mfa_generate_recovery_codes", "account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
        *(
            "session-end",
            "token-revoke",
            "situation-review",
            "snapshot-script",
            "snapshot-retire",
            "rehearse",
            "run-start",
            "loop-close",
            "glass-review",
            "look-answer",
            "progress",
        ),
        *("pool-damaged", "ledger-blob", "run-bundle", "postmortem-begin", "postmortem-collect", "postmortem-comment", "postmortem-export"),
        *("person-add", "person-give", "person-take", "person-switch", "person-password", "person-factors", "team-add", "node-team"),
        *("person-tokens", "person-confirm", "person-withdraw", "account-withdraw"),
        *("node-agent-revoke", "channel-change", "channel-test", "channel-remove", "notice-again", "hook-add", "hook-revoke"),
    )
)
