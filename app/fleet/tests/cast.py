"""Nodes for tests: genuine captures and twins, reporting as an agent does."""

from agents.collectors import COLLECTORS
from agents.reporting.capture_set import place, set_digest
from app.fleet.models import Node

BOOT_ID = "b6f3a7f0-0f0d-4c57-9c3f-1b6a1f0f2a11"
ABOUT = {"boot_id": BOOT_ID, "version": "0.1.0", "mode": "observe"}


def collect(host):
    return [capture for module in COLLECTORS.values() for capture in module.collect(host)]


def payload(node, captures, *, bodies=True, ages=None, **more):
    """A report in full, as an agent sends it to a portal that knows nothing of its node."""
    about = ABOUT | {name: more.pop(name) for name in ABOUT if name in more}
    listed = [{"source": c.source, "key": c.key, "digest": c.digest, "seconds": "0.1"} for c in captures]
    return heartbeat(node, captures, ages=ages, **about) | about | {"captures": listed, "bodies": texts(captures) if bodies else {}} | more


def heartbeat(node, captures, *, ages=None, **about):
    """A report that says no more than that everything is as it was."""
    name = set_digest(captures={place(c.source, c.key): c.digest for c in captures}, **(ABOUT | about))
    ages = dict.fromkeys({*COLLECTORS, *(c.source for c in captures)}, "0") if ages is None else ages
    return {"v": "2", "node": node, "set": name, "taken_at": "2026-11-21T00:00:00Z", "ages": ages}


def delta(node, before, captures):
    """A report of what differs from before."""
    was = {place(c.source, c.key): c.digest for c in before}
    changed = [c for c in captures if was.get(place(c.source, c.key)) != c.digest]
    listed = [{"source": c.source, "key": c.key, "digest": c.digest, "seconds": "0.1"} for c in changed]
    gone = sorted(was.keys() - {place(c.source, c.key) for c in captures})
    return heartbeat(node, captures) | ABOUT | {"changed": listed, "gone": gone, "bodies": texts(changed)}


def texts(captures):
    return {c.digest: c.body() for c in captures}


def node(name="oss01"):
    return Node.objects.get_or_create(name=name, defaults={"state": Node.State.ENROLLED})[0]
