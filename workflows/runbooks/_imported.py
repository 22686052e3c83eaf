"""What every runbook that imports a pool read-only shares: the open loop that it is, how it is let go of, and the way back."""

from agents.operations import zpool_export_readonly
from workflows.engine.core import Guard, Loop, Params, Step, Verdict, ok, refuse
from workflows.facts import FleetFacts
from workflows.guards.importing import (
    the_pool_is_imported_here,
    the_pool_is_not_imported_here,
    the_pool_is_read_only,
    what_can_be_imported_is_fresh,
)
from workflows.runbooks._orders import named, order, verify

SOURCES = ("zpool_import", "zpool_status", "zpool_status_guid", "zpool_get", "zdb_label", "zdb_uberblocks", "block", "node", "zdb_config")
AFTERWARDS = ("zpool_status", "zpool_status_guid", "zpool_get", "zdb_label")
NOTE_LENGTH_MIN = 10
EXPORT_WHY = "A pool that is imported read-only blocks its proper import, here and elsewhere. Letting go of it writes nothing."
export_params = named(*zpool_export_readonly.PARAMS)

DRY_RUN = "dry-run"


def _what_is_held(params: Params) -> str:
    """A dry run imports the pool where nothing has to be discarded; whether it did is not known yet when this is said."""
    word = "may be" if params.get("way") == DRY_RUN else "is"
    return f"{params['pool']} {word} imported read-only on {params['node']}, with nothing mounted."


HELD = Loop(
    slug="imported",
    what=_what_is_held,
    undo="Export it, so that it can be imported where it belongs.",
    over=the_pool_is_not_imported_here,
)


def let_go(slug: str = "export") -> tuple[Step, ...]:
    """The order; a VERIFY that closes HELD follows."""
    guards = (the_pool_is_imported_here, the_pool_is_read_only)
    return order(slug, "Let go of the pool", zpool_export_readonly, export_params, guards, EXPORT_WHY)


def let_go_and_verify(*also: Guard, sources: tuple[str, ...] = AFTERWARDS, then: str = "") -> tuple[Step, ...]:
    """The order, and that the node shows it."""
    guards = (the_pool_is_not_imported_here, *also)
    why = "The node looks again."
    return (*let_go(), verify("verify-export", "Verify that it is let go of", why, guards, sources, closes=(HELD.slug,), then=then))


def who_has_taken_over(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    return (_noted(text) or refuse("Say who has taken over, and where the images of the disks are."),)


def what_was_seen(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    return (_noted(text) or refuse("Say what was looked at or copied, and what the next step is."),)


def _noted(text: str) -> Verdict | None:
    return ok("It is noted.") if len(text) >= NOTE_LENGTH_MIN else None


WAY_BACK = (
    verify("look-back", "See whether the pool is imported", "The node looks.", (what_can_be_imported_is_fresh,), SOURCES, undoes=HELD.slug),
    *order(
        "undo-import",
        "Let go of the pool",
        zpool_export_readonly,
        export_params,
        (the_pool_is_imported_here, the_pool_is_read_only),
        EXPORT_WHY,
        needed=the_pool_is_imported_here,
        undoes=HELD.slug,
    ),
    verify(
        "verify-undo-import",
        "Verify that it is let go of",
        "The node looks again.",
        (the_pool_is_not_imported_here,),
        sources=AFTERWARDS,
        undoes=HELD.slug,
        closes=(HELD.slug,),
    ),
)
