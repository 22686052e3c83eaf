"""The names that stand in the frozen records for classes and fields which were renamed since they were made.

Guards, operations, runbooks, steps, situations and ledger events are recorded under the names that are kept anyhow. Facts are recorded under
`Class.field`; whoever renames one adds a line here, with today's name on the left, so that the record of what is answered stays comparable.
"""

FIELDS: dict[str, str] = {
    "NodeFacts.lights": "NodeFacts.ports",
    "DiskFacts.light": "DiskFacts.port",
    "SelfTestFacts.status": "SelfTestFacts.said",
    "DiskLink.status": "DiskLink.said",
    "HostidFacts.command": "HostidFacts.said",
    "Expected.named_by": "Expected.told_by",
    "Damage.named_by": "Damage.told_by",
}
CLASSES: dict[str, str] = {"LightFacts": "PortFacts"}


def of_field(kind: str, field: str) -> str:
    now = f"{kind}.{field}"
    return FIELDS.get(now, f"{CLASSES.get(kind, kind)}.{field}")
