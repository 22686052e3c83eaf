"""What we know about nodes, pools and disks, joined from captures. Pure: no Django, no clock, no network."""

from workflows.facts.condition import ConditionFacts, DiskLink, ErrorFacts, SelfTestFacts
from workflows.facts.fabric import FabricFacts, Growth, LinkFacts, PhyFacts
from workflows.facts.identity import Identity, Remembered, identify
from workflows.facts.join import node_facts
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
from workflows.facts.modes import ModeFacts, Switch
from workflows.facts.slots import BayWitness

__all__ = [
    "BayFacts",
    "BayWitness",
    "ConditionFacts",
    "DiskFacts",
    "DiskLink",
    "ErrorFacts",
    "FabricFacts",
    "FleetFacts",
    "Growth",
    "HealthFacts",
    "Identity",
    "ImportableFacts",
    "Known",
    "LabelFacts",
    "LeafChange",
    "LinkFacts",
    "ModeFacts",
    "NodeFacts",
    "PathFacts",
    "PhyFacts",
    "PoolFacts",
    "Remembered",
    "ScanFacts",
    "SelfTestFacts",
    "Switch",
    "Unknown",
    "VdevFacts",
    "identify",
    "known",
    "node_facts",
]
