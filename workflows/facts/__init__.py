"""What we know about nodes, pools and disks, joined from captures. Pure: no Django, no clock, no network."""

from workflows.facts.hostids import HostidFacts
from workflows.facts.join import node_facts
from workflows.facts.kstats import KstatFacts
from workflows.facts.model import (
    BayFacts,
    DiskFacts,
    FleetFacts,
    HealthFacts,
    ImportableFacts,
    Known,
    LabelFacts,
    LeafChange,
    NodeFacts,
    PathFacts,
    PoolFacts,
    ScanFacts,
    Unknown,
    VdevFacts,
    known,
)
from workflows.facts.tunables import TunableFacts, TunablesFacts

__all__ = [
    "BayFacts",
    "DiskFacts",
    "FleetFacts",
    "HealthFacts",
    "HostidFacts",
    "ImportableFacts",
    "Known",
    "KstatFacts",
    "LabelFacts",
    "LeafChange",
    "NodeFacts",
    "PathFacts",
    "PoolFacts",
    "ScanFacts",
    "TunableFacts",
    "TunablesFacts",
    "Unknown",
    "VdevFacts",
    "known",
    "node_facts",
]
