"""What an Alertmanager says (webhook payload version 4), read strictly and kept as outside alerts. It begins nothing by itself.

A payload that is not what it should be is refused as a whole: half of it would show a half truth.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from app.fleet.models import Node
from app.notices.models import Hook, OutsideAlert
from app.realtime.publish import ring

BYTES_MAX = 256 * 1024
ALERTS_MAX = 500
LABELS_MAX = 64
TEXT_MAX = 1000
WHERE = ("node", "nodename", "instance", "host", "hostname")  # labels that name the machine, the most exact one first
FINGERPRINT = re.compile(r"[0-9a-f]{1,64}")


class BadPayload(ValueError):
    """This is no webhook payload of version 4. The message says what is wrong with it."""


@dataclass(frozen=True)
class Alert:
    fingerprint: str
    firing: bool
    labels: Mapping[str, str]
    summary: str
    starts_at: datetime
    ends_at: datetime

    @property
    def name(self) -> str:
        return self.labels.get("alertname", "an alert without a name")

    @property
    def where(self) -> str:
        return next((self.labels[label] for label in WHERE if self.labels.get(label)), "")


def read(body: bytes) -> list[Alert]:
    """Raises BadPayload."""
    need(len(body) <= BYTES_MAX, f"The payload is larger than {BYTES_MAX} bytes. Set max_alerts in the receiver.")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise BadPayload("The body is no JSON.") from None
    need(isinstance(answer, dict), "The body is no JSON object.")
    need(answer.get("version") == "4", f"The payload says version {str(answer.get('version'))[:20]!r}; this door reads version 4.")
    alerts = answer.get("alerts")
    need(isinstance(alerts, list) and len(alerts) <= ALERTS_MAX, f"alerts must be a list of at most {ALERTS_MAX}.")
    return [_alert(one) for one in alerts]


def _alert(value: object) -> Alert:
    if not isinstance(value, dict):
        raise BadPayload("An alert is no JSON object.")
    need(value.get("status") in ("firing", "resolved"), "An alert is neither firing nor resolved.")
    fingerprint = value.get("fingerprint")
    if not isinstance(fingerprint, str) or not FINGERPRINT.fullmatch(fingerprint):
        raise BadPayload("An alert has no fingerprint in hexadecimal.")
    notes = _texts(value, "annotations")
    summary = notes.get("summary") or notes.get("description", "")
    return Alert(
        fingerprint, value["status"] == "firing", _texts(value, "labels"), summary, _moment(value, "startsAt"), _moment(value, "endsAt")
    )


def _texts(labels: dict[str, Any], name: str) -> dict[str, str]:
    texts = labels.get(name, {})
    is_text = isinstance(texts, dict) and all(isinstance(value, str) for value in texts.values())
    need(is_text and len(texts) <= LABELS_MAX, f"The {name} of an alert are no list of at most {LABELS_MAX} texts.")
    return {key[:TEXT_MAX].replace("\0", ""): value[:TEXT_MAX].replace("\0", "") for key, value in texts.items()}


def _moment(fields: dict[str, Any], name: str) -> datetime:
    try:
        at = datetime.fromisoformat(fields.get(name, ""))
    except (ValueError, TypeError):
        raise BadPayload(f"The {name} of an alert is no time.") from None
    need(at.tzinfo is not None, f"The {name} of an alert has no time zone.")
    return at.astimezone(UTC) if at.year > 1 else at.replace(tzinfo=UTC)  # Go's zero time, of an end that is not known


def need(fact: object, otherwise: str) -> None:
    if not fact:
        raise BadPayload(otherwise)


def take(hook: Hook, alerts: list[Alert], now: datetime) -> None:
    """Keep what is said. The same payload again changes nothing but when it was received."""
    with transaction.atomic():
        nodes = _nodes(hook, alerts)
        changed = [alert for alert in alerts if _kept(hook, alert, nodes, now)]
        Hook.objects.filter(pk=hook.pk).update(received_at=now)
        if changed:
            for topic in {"fleet", *(f"node:{nodes[a.where]}" for a in changed if a.where in nodes)}:
                ring(topic)


def _nodes(hook: Hook, alerts: list[Alert]) -> dict[str, Node]:
    """What alerts call a machine -> the node that is meant, among those of the hook's team. A short name is enough when it is one node's only."""
    known = Node.objects.exclude(state=Node.State.RETIRED)
    by_name = {node.name.lower(): node for node in (known.filter(team=hook.team) if hook.team_id else known)}
    found = {where: _meant(where, by_name) for where in {alert.where for alert in alerts if alert.where}}
    return {where: node for where, node in found.items() if node}


def _meant(where: str, by_name: Mapping[str, Node]) -> Node | None:
    host = re.sub(r":[0-9]+\Z", "", where.lower())
    if host in by_name:
        return by_name[host]
    short = [node for name, node in by_name.items() if name.partition(".")[0] == host.partition(".")[0]]
    return short[0] if len(short) == 1 else None


def _kept(hook: Hook, alert: Alert, nodes: Mapping[str, Node], now: datetime) -> bool:
    """Whether that is news."""
    open_row = OutsideAlert.objects.filter(hook=hook, fingerprint=alert.fingerprint, resolved_at=None)
    if not alert.firing:
        return bool(open_row.update(resolved_at=alert.ends_at if alert.starts_at <= alert.ends_at <= now else now, received_at=now))
    node = nodes.get(alert.where)
    fields = {
        "where": alert.where,
        "name": alert.name,
        "severity": alert.labels.get("severity", ""),
        "summary": alert.summary,
        "labels": dict(alert.labels),
        "starts_at": alert.starts_at,
    }
    before = open_row.values("node_id", "where", "name", "severity", "summary", "labels", "starts_at").first()
    _row, made = OutsideAlert.objects.update_or_create(
        hook=hook, fingerprint=alert.fingerprint, resolved_at=None, defaults=fields | {"node": node, "received_at": now}
    )
    return made or before != fields | {"node_id": node.pk if node else None}
