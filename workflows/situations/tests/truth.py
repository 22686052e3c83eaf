"""Hold one situation against every genuine step: where it must show, how urgent, and that it shows nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from workflows.facts import known
from workflows.facts.tests.played import fleet, played
from workflows.situations import SITUATIONS, detect_all


def agrees(slug: str, step: str, truth: Mapping[str, tuple[str, ...]]) -> None:
    """`truth`: step -> the severities it must show with, in order; a step that is not in it must not show it."""
    found = SITUATIONS[slug].detect(fleet(step))
    assert tuple(s.severity for s in found) == truth.get(step, ())
    for situation in found:
        assert situation.slug == slug
        assert all(e.digest and e.line for e in situation.evidence)
        assert len({s.key for s in found}) == len(found)
        assert not any(word in situation.meaning.lower() for word in ("destroy and re-create", "recreate", "re-create", "from a backup"))


def acts_once_for_each_leaf(step: str) -> None:
    """One member is one case for somebody: no two situations of severity "act" are about the same vdev."""
    acts = [s.subject["vdev_guid"] for s in detect_all(fleet(step)) if s.severity == "act" and "vdev_guid" in s.subject]
    assert len(acts) == len(set(acts))


def pools(step: str) -> tuple:
    facts = played(step)
    return facts.pools if known(facts.pools) else ()
