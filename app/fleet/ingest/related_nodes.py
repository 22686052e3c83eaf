"""Which nodes bear on one another, from rows: a node's facts are read only once it is known that they matter.

What a node touches is written down with the report that says it, so the whole fleet can be asked without reading anybody's facts.
A node whose rows are of an older form counts as touching all that its facts say, read afresh: no node is left out because we changed.
"""

from collections.abc import Collection, Iterable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from app.core.compiled_queries import Row, WrittenOnce
from app.fleet.models import Node, Touch
from workflows.facts import NodeFacts
from workflows.facts.fleet.related_nodes import doubts, touches

FORM = 1  # raise it when `workflows/facts/fleet/related_nodes.py` names other things

# A node that is retired leads nowhere: its reports are not accepted.
REPORTING = """
SELECT DISTINCT n.id, n.name FROM fleet_touch t JOIN fleet_node n ON n.id = t.node_id
WHERE t.thing = ANY(%s) AND n.last_report_at IS NOT NULL AND n.state <> 'retired'
"""
THINGS = "SELECT thing FROM fleet_touch WHERE node_id = ANY(%s) AND binds"


def reporting() -> QuerySet[Node]:
    """The nodes whose word there is."""
    return Node.objects.filter(last_report_at__isnull=False).exclude(state=Node.State.RETIRED)


def behind() -> QuerySet[Node]:
    """Nodes that reported before what they touch was written down in this form."""
    return reporting().exclude(touched=FORM)


@WrittenOnce
def _behind(form: int) -> QuerySet[Node, Any]:
    return reporting().exclude(touched=form).values_list("pk")[:1]


def all_are_written() -> bool:
    """Whether no node is behind."""
    return not _behind(FORM)


def write(node: Node, facts: NodeFacts) -> None:
    """Make the node's rows say what its facts say."""
    binding = touches(facts)
    wanted = dict.fromkeys(doubts(facts) - binding, False) | dict.fromkeys(binding, True)
    have = {(thing, binds): pk for pk, thing, binds in Touch.objects.filter(node=node).values_list("pk", "thing", "binds")}
    Touch.objects.filter(pk__in=[pk for one, pk in have.items() if one not in wanted.items()]).delete()
    # In one order, so that two nodes of one shelf do not wait for each other.
    fresh = [Touch(node=node, thing=thing, binds=binds) for thing, binds in sorted(wanted.items()) if (thing, binds) not in have]
    Touch.objects.bulk_create(fresh)
    if node.touched != FORM:
        node.touched = FORM
        node.save(update_fields=["touched"])


def of(node: Node) -> frozenset[str]:
    """What the node touches, as written down last."""
    return frozenset(Touch.objects.filter(node=node, binds=True).values_list("thing", flat=True))


def near(things: Iterable[str]) -> frozenset[str]:
    """The nodes that touch one of these things, or may, and all that those touch in turn.

    Asked step by step: in one recursive query PostgreSQL reads the rows of the whole fleet, for it cannot know that a step finds few.
    """
    asked = set(things)
    found: dict[int, str] = {}
    fresh: dict[int, str] = dict(_rows(REPORTING, asked))
    while fresh:
        found |= fresh
        more = {thing for (thing,) in _rows(THINGS, fresh)} - asked
        asked |= more
        fresh = {pk: name for pk, name in _rows(f"{REPORTING} AND t.binds", more) if pk not in found} if more else {}
    return frozenset(found.values())


def _rows(question: str, about: Collection[object]) -> list[Row]:
    """What it answers. All it is about goes as one parameter: nodes cloned with one hostid touch each other by the thousand."""
    with connection.cursor() as cursor:
        cursor.execute(question, [list(about)])
        return list(cursor)
