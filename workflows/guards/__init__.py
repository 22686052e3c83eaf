"""The questions that runbooks ask before they let a step run. To add one: write it in a file here and list it.

A guard is a function `(facts, params) -> Verdict` whose name is the sentence it asserts.
"""

from workflows.guards.candidate import CANDIDATE_GUARDS
from workflows.guards.fresh import FACTS_AGE_SECONDS_MAX, facts_are_fresh
from workflows.guards.replaced import REPLACED_GUARDS
from workflows.guards.target import TARGET_GUARDS

GUARDS = {guard.__name__.replace("_", "-"): guard for guard in (*TARGET_GUARDS, *CANDIDATE_GUARDS, *REPLACED_GUARDS)}

__all__ = ["CANDIDATE_GUARDS", "FACTS_AGE_SECONDS_MAX", "GUARDS", "REPLACED_GUARDS", "TARGET_GUARDS", "facts_are_fresh"]
