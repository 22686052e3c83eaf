"""What redundancy is left, as a verdict: with none left nothing is forbidden by it, and it is no good news either."""

from workflows.analysis import redundancy
from workflows.engine.core import Verdict, at_a_cost, ok


def left(margin: int, of: str, why: str = "") -> Verdict:
    """`of` is the vdev or pool; a margin below 0 is for the caller to refuse."""
    text = f"{of} {redundancy.survival(margin)}. {why}".strip()
    return ok(text) if margin > 0 else at_a_cost(text)
