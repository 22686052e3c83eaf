"""What we know about nodes, pools and disks, joined from captures. Pure: no Django, no clock, no network."""

from workflows.facts.hostids import HostidFacts
from workflows.facts.identity import Identity, Remembered, identify
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
    "Identity",
    "ImportableFacts",
    "Known",
    "KstatFacts",
    "LabelFacts",
    "LeafChange",
    "NodeFacts",
    "PathFacts",
    "PoolFacts",
    "Remembered",
    "ScanFacts",
    "TunableFacts",
    "TunablesFacts",
    "Unknown",
    "VdevFacts",
    "identify",
    "known",
    "node_facts",
]
