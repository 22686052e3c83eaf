"""Nodes for tests: genuine captures and twins, reporting as an agent does."""

from agents.collectors import COLLECTORS
from app.fleet.models import Node

BOOT_ID = "b6f3a7f0-0f0d-4c57-9c3f-1b6a1f0f2a11"


def collect(host):
    return [capture for module in COLLECTORS.values() for capture in module.collect(host)]


def payload(node, captures, *, bodies=True, **more):
    listed = [{"source": c.source, "key": c.key, "digest": c.digest, "seconds": "0.1"} for c in captures]
    texts = {c.digest: c.body() for c in captures} if bodies else {}
    said = {"v": "1", "node": node, "boot_id": BOOT_ID, "taken_at": "2026-11-21T00:00:00Z", "version": "0.1.0", "mode": "observe"}
    return said | {"captures": listed, "bodies": texts} | more


def node(name="oss01"):
    return Node.objects.get_or_create(name=name, defaults={"state": Node.State.ENROLLED})[0]
