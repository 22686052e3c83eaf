"""The pool has a checkpoint: a state to go back to, which keeps every block of that time and blocks changes of its vdevs. OpenZFS 0.8 and newer."""

from workflows.engine.core import Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.situations import _pools
from workflows.situations._pools import Wording, cure

SLUG = "checkpoint-held"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if known(pool.checkpoint) and pool.checkpoint)


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    text = pool.checkpoint_line
    sentence = "" if text.startswith("{") else text.split("\n")[0].rstrip(".")  # the JSON of 2.3 is for the evidence alone
    going = "discarding" in text.lower()
    meaning = (
        f"{pool.name} on {node.node} {'is giving up its checkpoint' if going else 'has a checkpoint'}{f' ({sentence})' if sentence else ''}. While it is there, replace, "
        "attach, detach, remove, split and reguid are refused, so no failed disk can be replaced; an added vdev cannot be removed again. What is deleted frees no space, and a "
        "scrub does not check blocks that only the checkpoint has."
    )
    cures = (
        (cure("wait", "Wait until it is gone; then the changes are allowed again."),)
        if going
        else (
            cure(
                "other",
                "Discard it once there is no need to go back to that state.",
                ("zpool", "checkpoint", "-d", pool.name),
                releases="0.8 and newer",
                save_first="the way back: afterwards the pool cannot be rewound to that state any more",
            ),
        )
    )
    severity: Severity = "info" if pool.state == "ONLINE" else "watch"  # a member may have to be replaced, which it forbids
    title = f"{pool.name}: {'its checkpoint is being discarded' if going else 'it has a checkpoint'}"
    lines = (_pools.line(node, "checkpoint", text or "exists"),)
    return _pools.situation(SLUG, node, pool, Wording(severity, title, meaning, lines, cures))
