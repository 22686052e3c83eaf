"""Every runbook we ship. To add one: add a file, add it here. A definition that breaks a rule stops the portal."""

from agents.operations import OPERATIONS
from workflows.lint import load
from workflows.runbooks import blink_and_replace, drive_mode_audit, resilver_tuning, slow_disk_triage, wwid_mismatch_replace

RUNBOOKS = load(
    tuple(module.RUNBOOK for module in (wwid_mismatch_replace, blink_and_replace, resilver_tuning, drive_mode_audit, slow_disk_triage)),
    OPERATIONS,
)

__all__ = ["RUNBOOKS"]
