"""When a disk may come or go while ZFS fills another: the rule by release, as the sources of OpenZFS have it."""

import pytest

from agents.operations._resilver import Defers, before_it, in_the_way

ON, OFF, OLD, NOT_READ = Defers("enabled", "0"), Defers("disabled", "0"), Defers(""), Defers(None, "0")
RULE = {
    "nothing runs": ((), False, False, NOT_READ, "pass", "No resilver"),
    "a scrub": (("scrub",), False, False, NOT_READ, "pass", "No resilver"),
    "in the same vdev": (("resilver",), True, False, ON, "refuse", "mirror-0 of tank is being rebuilt"),
    "waits in the same vdev": ((), True, False, ON, "refuse", "mirror-0 of tank is being rebuilt"),
    "of no disk that is named": (("resilver",), False, False, ON, "refuse", "does not show which disk"),
    "elsewhere, deferred": (("resilver",), False, True, ON, "pass", "has its turn when that ends"),
    "elsewhere, one waits already": (("resilver",), False, True, Defers("active", "0"), "pass", "has its turn"),
    "elsewhere, feature off": (("resilver",), False, True, OFF, "refuse", "resilver_defer of tank is disabled"),
    "elsewhere, before 0.8": (("resilver",), False, True, OLD, "refuse", "0.8 and newer do"),
    "elsewhere, switched off": (("resilver",), False, True, Defers("enabled", "1"), "refuse", "zfs_resilver_disable_defer is 1"),
    "elsewhere, feature not told": (("resilver",), False, True, NOT_READ, "unknown", "is not known"),
    "elsewhere, switch not told": (("resilver",), False, True, Defers("enabled"), "unknown", "is not known"),
    "rebuild elsewhere": (("rebuild",), False, True, ON, "refuse", "ZFS attaches no disk meanwhile"),
}


@pytest.mark.parametrize("name", RULE)
def test_the_rule(name):
    runs, here, elsewhere, defers, outcome, words = RULE[name]
    in_the_way_now, reason = in_the_way("tank", "mirror-0", runs, here, elsewhere, lambda: defers)
    assert in_the_way_now == outcome
    assert words in reason
    assert in_the_way_now == "pass" or "`zpool status tank`" in reason  # a refusal says where to look


@pytest.mark.parametrize(("release", "means"), [((0, 7), ""), ((0, 6), ""), ((0, 8), None), ((2, 3), None), (None, None)])
def test_a_property_that_was_not_printed_means_a_release_without_the_feature_or_nothing(release, means):
    assert before_it(release) == means
