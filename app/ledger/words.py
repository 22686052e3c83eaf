"""What each kind of event says in plain words: one registry for every page that shows events, total over all that the portal records.

`app/tests/test_words.py` reads the code and fails while a kind that is recorded somewhere has no words here.
"""

from collections.abc import Callable, Mapping
from typing import Any

Body = Mapping[str, Any]

WORDS: Mapping[str, str] = {
    "run.started": "began the run",
    "run.start-refused": "was refused to begin a run",
    "run.chosen": "chose",
    "run.checked": "had everything checked",
    "run.refused": "was refused",
    "run.plan-asked": "asked the node for a plan",
    "run.planned": "answered with its plan",
    "run.plan-failed": "could not make a plan",
    "run.went-back": "went back a step",
    "run.done-by-hand": "did it by hand",
    "run.corrected": "corrected what was scanned",
    "run.confirmed": "typed the confirmation",
    "run.approved": "approved the plan",
    "run.denied": "denied the plan",
    "run.done": "closed the run: done",
    "run.aborted": "ended the run",
    "run.ordered": "gave the order to run the command",
    "run.by-hand-shown": "was shown the command, to give it by hand",
    "run.by-hand-look": "had the node look what became of the command given by hand",
    "run.by-hand-not-shown": "could not show what became of the command given by hand",
    "run.by-hand-pasted": "pasted what the command given by hand printed",
    "run.order-moved": "set the order's state",
    "run.settled": "settled the order",
    "run.overdue": "waits longer than it should",
    "run.waited": "found the wait over",
    "run.verified": "verified the result",
    "run.not-verified": "could not verify the result",
    "run.passed-over": "passed over what was not needed",
    "run.alarm": "raised the alarm",
    "run.turned-back": "began to put back what was switched on",
    "run.glass-broken": "broke the glass",
    "run.glass-reviewed": "reviewed the broken glass",
    "run.exported": "took the audit trail",
    "run.handed-over": "handed the run over",
    "run.taken": "took responsibility for the run",
    "run.comment": "said",
    "run.reminded": "reminded the approvers",
    "technician-link.made": "made a technician's link",
    "technician-link.opened": "opened the technician's link",
    "technician-link.left": "left the rack",
    "technician-link.revoked": "revoked a technician's link",
    "loop.opened": "switched on what must be switched off again",
    "loop.closed": "found it switched off again",
    "loop.left": "left something switched on",
    "order.sealed": "sealed an order",
    "checkpoint.not-sent": "could not send a checkpoint outside",
    "order.receipt": "reported how the order ended",
    "order.looks": "looked again and saw the same as before",
    "order.receipt-out-of-turn": "reported how an order ended that was not its turn",
    "order.second-receipt": "sent another receipt for an order that has one",
    "order.withdrawn": "withdrew the order",
    "order.held-back": "held the order back",
    "order.expired": "let an order expire",
    "order.key-rotated": "changed the key that signs orders",
    "order.key-lost": "began anew with another order key, because the old one was lost",
    "locks.taken-over": "took over what a run held",
    "word.reviewed": "reviewed a word that nothing explains",
    "ledger.key-rotated": "changed the key that signs the ledger",
    "event.redacted": "erased the content of an event",
    "evidence.redacted": "erased a piece of evidence",
    "evidence.looked": "looked at evidence",
    "report.changed": "reported something new",
    "report.late": "reported what it saw while the portal was away",
    "situations.settled": "found that situations changed by time alone",
    "node.enrolled": "enrolled with the portal",
    "node.counter-jump": "turned away a request counter that no agent can have reached",
    "node.duplicate": "saw two machines use one node's key",
    "token.issued": "issued a one-time token",
    "key.revoked": "revoked the keys of a node",
    "person.signed-in": "signed in",
    "person.signed-out": "signed out",
    "person.proved": "typed the password again",
    "person.sign-in-failed": "failed to sign in",
    "person.sign-in-refused": "refused a sign-in through the identity provider",
    "person.session-ended": "signed out another browser",
    "person.password-changed": "changed a password",
    "person.password-reset": "set a new first password",
    "person.factor-added": "set up what proves who they are",
    "person.factor-removed": "removed what proves who they are",
    "person.factors-forgotten": "had the second factors set up anew",
    "person.added": "added a person",
    "person.role-given": "gave a role",
    "person.role-taken": "took a role away",
    "person.change-confirmed": "confirmed what another administrator did",
    "person.change-counts": "let a change count after a day",
    "person.change-withdrawn": "withdrew what an administrator did",
    "person.done-on-host": "did on the portal's machine what counts at once",
    "person.roles-from-groups": "took roles over from the identity provider",
    "person.switched-off": "switched an account off",
    "person.switched-on": "switched an account on",
    "team.added": "made a team",
    "node.handed-over": "gave a node to another team",
    "identity.blessed": "confirmed the people and roles as the database has them",
    "identity.changed": "changed an identity record of a person",
    "identity.ended": "ended an identity record of a person",
    "identity.key-lost": "began anew with another key over who is who, because the old one was lost",
    "identity.key-rotated": "changed the key over who is who",
    "identity.refused": "refused an identity record in the database",
    "token.first-used": "used a token for the first time",
    "token.made": "made a token",
    "token.revoked": "revoked a token",
    "token.used": "acted through a token",
    "channel.added": "added a channel for notices",
    "channel.changed": "changed a channel for notices",
    "channel.removed": "removed a channel for notices",
    "channel.tested": "sent a test message",
    "hook.added": "let an Alertmanager in",
    "hook.revoked": "shut an Alertmanager out",
    "database.hung": "found that the database had not answered for a while",
    "notice.delivered": "delivered a notice",
    "notice.not-delivered": "could not deliver a notice",
    "notice.sent-again": "had a notice sent again",
    "demo.people-made": "made the people of the demo",
    "rehearsal.begun": "began a rehearsal, which reaches no node",
    "postmortem.begun": "began a postmortem",
    "postmortem.collected": "collected a postmortem's timeline again",
    "postmortem.looked": "looked at the evidence of a postmortem",
    "postmortem.edited": "edited a postmortem",
    "postmortem.commented": "commented on a postmortem",
    "postmortem.exported": "took a copy of a postmortem",
    "triage.kept": "kept what was pasted as evidence",
    "snapshot.brought": "brought what was collected on a host without an agent",
    "snapshot.retired": "retired a node that has no agent",
}


def _first(*names: str) -> Callable[[Body], str]:
    """The first of these fields that says something."""
    return lambda body: next((str(body[name]) for name in names if body.get(name)), "")


def _counted(body: Body) -> str:
    words = {"changed": "capture% changed", "gone": "source% gone", "opened": "situation% opened", "closed": "situation% closed"}
    counts = {names: len(body.get(name) or ()) for name, names in (words | {"between": "set% in between"}).items()}
    return ", ".join(f"{count} {noun.replace('%', '' if count == 1 else 's')}" for noun, count in counts.items() if count)


def _verdict(body: Body) -> str:
    return next((str(verdict[2]) for verdict in body.get("verdicts") or () if len(verdict) > 2), "")


def _loop_closed(body: Body) -> str:
    return f"{body.get('what', '')} {body.get('evidence', '')}".strip()


def _handed_over(body: Body) -> str:
    between = " → ".join(filter(None, (body.get("from"), body.get("to"))))
    return ". ".join(filter(None, (between, body.get("words"))))


def _factor(body: Body) -> str:
    kinds = {"totp": "an authenticator app", "recovery_codes": "recovery codes", "webauthn": "a passkey"}
    return ", ".join(filter(None, (kinds.get(str(body.get("type")), ""), str(body.get("name") or ""))))


def _about_role(body: Body) -> str:
    return ", ".join(filter(None, (body.get("of"), body.get("role"), body.get("team") and f"team {body['team']}")))


def _about_change(body: Body) -> str:
    return ": ".join(filter(None, (body.get("of"), body.get("what"))))


def _about_identity(body: Body) -> str:
    return ", ".join(filter(None, (body.get("what"), body.get("of") and f"of {body['of']}", ", ".join(body.get("changed") or ()))))


def _by_token(body: Body) -> str:
    return ", ".join(filter(None, (body.get("name"), body.get("act"), body.get("outcome"))))


def _argv(body: Body) -> str:
    return ". ".join(filter(None, (" ".join(body.get("argv") or ()), _accepts(body))))


def _accepts(body: Body) -> str:
    return f"accepted “{body['accepts']}”" if body.get("accepts") else ""


def _digest(body: Body) -> str:
    return str(body.get("digest") or "")[:12]


def _receipt(body: Body) -> str:
    return ": ".join(filter(None, (body.get("outcome", ""), body.get("reason", ""))))


def _times(body: Body) -> str:
    return f"{body['looks']} time{'' if body['looks'] == '1' else 's'}" if body.get("looks") else ""


def _settled(body: Body) -> str:
    opened, closed = (", ".join(body.get(name) or ()) for name in ("opened", "closed"))
    return "; ".join(filter(None, (opened and f"opened {opened}", closed and f"closed {closed}")))


# What of the body completes the sentence, where it is not the first of DEFAULT that is filled.
DEFAULT = _first("title", "status", "reason", "why", "what", "outcome", "operation", "name", "team", "of")
MORE: Mapping[str, Callable[[Body], str]] = {
    "run.started": _first("runbook"),
    "run.start-refused": _first("reason", "runbook"),
    "run.alarm": _verdict,
    "run.done-by-hand": _first("evidence"),
    "run.corrected": _first("evidence"),
    "run.turned-back": lambda body: " ".join(filter(None, (*(body.get("open") or ()), body.get("reason")))),
    "run.approved": _accepts,
    "run.glass-broken": lambda body: ". ".join(filter(None, (body.get("reason"), _accepts(body)))),
    "loop.opened": lambda body: " ".join(filter(None, (body.get("what"), body.get("by") and f"Ordered by {body['by']}."))),
    "run.planned": _argv,
    "run.ordered": _argv,
    "run.went-back": _first("to"),
    "run.handed-over": _handed_over,
    "run.comment": _first("text"),
    "node.handed-over": _handed_over,
    "loop.closed": _loop_closed,
    "order.receipt": _receipt,
    "order.looks": _times,
    "order.receipt-out-of-turn": _receipt,
    "report.changed": _counted,
    "report.late": _counted,
    "situations.settled": _settled,
    "evidence.looked": _digest,
    "evidence.redacted": _first("why"),
    "person.signed-in": lambda body: f"from {body['from']}" if body.get("from") else "",
    "person.sign-in-failed": lambda body: f"from {body['from']}" if body.get("from") else "",
    "person.factor-added": _factor,
    "person.factor-removed": _factor,
    "person.role-given": _about_role,
    "person.change-confirmed": _about_change,
    "person.done-on-host": lambda body: ": ".join(filter(None, (body.get("of"), body.get("what"), body.get("why")))),
    "person.change-counts": _about_change,
    "person.change-withdrawn": _about_change,
    "person.role-taken": _about_role,
    "identity.changed": _about_identity,
    "identity.ended": _about_identity,
    "identity.refused": lambda body: " ".join(filter(None, (body.get("of") and f"{body['of']}:", body.get("why")))),
    "identity.blessed": lambda body: f"{len(body.get('rows') or ())} rows",
    "token.revoked": lambda body: f"{body.get('name', '')}, of {body['of']}" if body.get("of") else str(body.get("name", "")),
    "token.used": _by_token,
    "postmortem.edited": lambda body: f"{body.get('title', '')}, version {body.get('version', '')}",
    "postmortem.exported": lambda body: f"{body.get('title', '')} as {body.get('form', '')}",
}


# Where the actor only showed what another person had decided.
OF_ANOTHER: Mapping[str, Callable[[Body], str]] = {
    "run.aborted": lambda body: f"showed that all is put back in the run which {body['by']} ended",
}


def words(type: str) -> str:
    """The verb phrase of this kind. An event of a version that is gone is still readable."""
    return WORDS.get(type, type.replace(".", " ").replace("-", " "))


def phrase(type: str, body: Body) -> str:
    """The phrase, and what completes it."""
    more = MORE.get(type, DEFAULT)(body)
    phrase = OF_ANOTHER[type](body) if type in OF_ANOTHER and body.get("by") else words(type)
    return f"{phrase}: {more}" if more else phrase


def who(actor: str) -> str:
    """An actor as the subject of a sentence: a node by its name, the portal as such."""
    if actor in ("portal", "system"):
        return f"The {actor}"
    return actor.removeprefix("node:")


def sentence(type: str, actor: str, body: Body) -> str:
    """One sentence that says what happened."""
    text = f"{who(actor)} {phrase(type, body)}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
