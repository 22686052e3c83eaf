"""The files that are hurt, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutate import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Target:
    """A file and the tests that must notice what goes wrong in it, the quick ones first.

    `own` are those that meet a mutant for which everything is imported anew: a constant, a list of guards. "" are all.
    """

    path: str
    tests: tuple[str, ...]
    slow: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def source(self) -> str:
        return (ROOT / self.path).read_text()

    def mutants(self) -> list[Mutant]:
        return mutants(self.source)


PURE = "workflows/tests/"


def pure(*names: str) -> tuple[str, ...]:
    return tuple(f"{PURE}test_{name}.py" for name in names)


def of_runbooks(*names: str) -> tuple[str, ...]:
    """The files of tests in the folders of these runbooks."""
    found = (path for name in names for path in sorted((ROOT / "workflows/runbooks" / name / "tests").glob("test_*.py")))
    return tuple(path.relative_to(ROOT).as_posix() for path in found)


EDGES = pure("guard_edges", "guard_edges_of_pools", "guards", "fresh")
RUNBOOKS_EDGES = pure(
    "guards_in_the_dark",
    *(f"guard_edges_{what}" for what in ("at_the_rack", "of_members", "of_scans", "of_tuning", "of_rewinds", "of_links")),
)
OWN = {  # the runbooks that ask them
    "answers": ("blink_and_replace",),
    "bay": ("blink_and_replace", "device_delete_reimport"),
    "importing": ("read_only_import", "rewind_import", "device_delete_reimport"),
    "links": ("sas_link_triage",),
    "mass": ("many_disks_offline", "suspended_pool"),
    "member": ("blink_and_replace",),
    "modes": ("drive_mode_audit", "slow_disk_triage", "many_disks_offline"),
    "protection": ("blink_and_replace",),
    "rewinding": ("rewind_import", "device_delete_reimport"),
    "slow": ("slow_disk_triage",),
    "spare": ("blink_and_replace",),
    "spares": ("spare_return",),
    "suspect": ("device_delete_reimport",),
    "suspended": ("suspended_pool",),
    "tuning": ("resilver_tuning", "suspended_pool"),
}
WRONG_DISK = of_runbooks("wwid_mismatch_replace")
GUARDS = (
    *(
        Target(f"workflows/guards/{name}.py", EDGES, WRONG_DISK)
        for name in ("__init__", "candidate", "fresh", "healthy", "replaced", "subject", "target")
    ),
    *(
        Target(
            f"workflows/guards/{name}.py",
            RUNBOOKS_EDGES,
            (*pure("every_refusal"), *of_runbooks(*own)),
            (*RUNBOOKS_EDGES, *of_runbooks(*own)),
        )
        for name, own in OWN.items()
    ),
)
OF_RUNBOOKS = tuple(  # those that one runbook alone asks stand in its folder
    Target(path.relative_to(ROOT).as_posix(), of_runbooks(path.parent.name), pure("every_refusal"))
    for path in sorted((ROOT / "workflows/runbooks").glob("*/guards.py"))
)
ENGINE = tuple(
    Target(f"workflows/engine/{name}.py", pure("decide", "engine_edges", "lint_paths", "windows", "break_glass"), pure("engine_machine"))
    for name in ("decide", "transitions", "order_outcomes", "going_back", "break_glass", "state")
)
TARGETS = (
    *GUARDS,
    *OF_RUNBOOKS,
    *ENGINE,
    Target("workflows/runbooks/wwid_mismatch_replace/__init__.py", (*WRONG_DISK, *pure("registry"))),
    Target("workflows/engine/lint.py", (*pure("lint"), f"{PURE}test_engine_machine.py::test_together_they_use_every_kind_of_step")),
    Target("workflows/engine/plans.py", (*pure("decide"), *WRONG_DISK)),
    Target("agents/orders/order.py", ("agents/tests/test_order.py", "agents/tests/test_executor.py")),
    Target("agents/orders/policy.py", ("agents/tests/test_policy.py",)),
    Target("agents/trust/transparency_log.py", ("agents/tests/test_transparency_log.py",)),
    Target("agents/trust/order_signature.py", ("agents/tests/test_order_signature.py",)),
    Target("agents/trust/log_witness.py", ("agents/tests/test_log_witness.py",)),
    Target(
        "app/ledger/verify.py",
        ("tests/verifier/test_verify.py", "tests/verifier/test_keys_and_changes.py"),
        ("tests/verifier/test_trees.py",),
    ),
    Target("app/ledger/verify_forms.py", ("tests/verifier/test_verify.py",)),
    Target("app/ledger/verify_orders.py", ("tests/verifier/test_attacks.py",)),
    Target("app/ledger/verify_signatures.py", ("tests/verifier/test_attacks.py", "tests/verifier/test_verify.py")),
    Target("app/ledger/verify_tree.py", ("tests/verifier/test_trees.py", "tests/verifier/test_verify.py")),
    Target("app/ledger/verify_zip.py", ("tests/verifier/test_verify.py",)),
    Target("app/ledger/merkle.py", ("tests/verifier/test_trees.py",)),
    Target("agents/orders/approval_proof.py", ("agents/tests/test_approval_proof.py",)),
    Target("agents/operations/zpool_replace.py", ("agents/tests/test_zpool_replace.py", "agents/tests/test_operations.py")),
)
