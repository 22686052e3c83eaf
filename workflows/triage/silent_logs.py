"""Kernel logs tell of trouble, and of nothing that it is well: a log without a word of trouble may begin too late, be cut, or be of a boot."""

from __future__ import annotations

from agents.collectors.kernel_log import KernelLog


def only_names(log: KernelLog) -> bool:
    """Whether nothing in it says whether anything is well. What it does not explain is raised by itself."""
    return not log.unexplained
