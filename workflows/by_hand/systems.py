"""The systems beside Linux for which snippets are made."""

from collections.abc import Mapping

from workflows.by_hand import freebsd, illumos
from workflows.by_hand.system import System

SYSTEMS: Mapping[str, System] = {one.name: one for one in (freebsd.SYSTEM, illumos.SYSTEM)}
