"""Which nodes bear on one another, from rows: a node's facts are read only once it is known that they matter.

What a node touches is written down with the report that says it, so the whole fleet can be asked without reading anybody's facts.
A node whose rows are of an older form counts as touching all that its facts say, read afresh: nobody is left out because we changed.
"""

from collections.abc import Iterable

from django.db import connection

from app.fleet.models import Node, Touch
from workflows.facts import NodeFacts
from workflows.facts.touch import doubts, touches

FORM = 1  # raise it when `workflows/facts/touch.py` names other things

NEAR = """
WITH RECURSIVE near(node_id) AS (
    SELECT node_id FROM fleet_touch WHERE thing = ANY(%s)
    UNION
    SELECT theirs.node_id FROM near
    JOIN fleet_touch mine ON mine.node_id = near.node_id AND mine.binds
    JOIN fleet_touch theirs ON theirs.thing = mine.thing AND theirs.binds
)
SELECT n.name FROM near JOIN fleet_node n ON n.id = near.node_id WHERE n.last_report_at IS NOT NULL AND n.state <> %s
"""


def reporting():
    """The nodes whose word there is."""
    return Node.objects.filter(last_report_at__isnull=False).exclude(state=Node.State.RETIRED)


def behind():
    """Nodes that reported before what they touch was written down in this form."""
    return reporting().exclude(touched=FORM)


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
    """The nodes that touch one of these things, or may, and all that those touch in turn."""
    with connection.cursor() as cursor:
        cursor.execute(NEAR, [list(things), Node.State.RETIRED])
        return frozenset(name for (name,) in cursor.fetchall())
