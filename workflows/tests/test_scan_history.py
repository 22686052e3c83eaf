"""The scans a history tells of. The lines are as OpenZFS 2.1 to 2.3 wrote them on a real node."""

from agents.collectors.zpool_history import parse
from workflows.analysis.scan_history import past

TEXT = """History for 'ost_0':
2026-10-01.08:00:00 [txg:15] scan setup func=1 mintxg=0 maxtxg=15 [on oss01]
2026-10-01.18:30:00 [txg:17] scan done errors=11 [on oss01]
2026-11-01.08:00:00 [txg:83] scan setup func=2 mintxg=83 maxtxg=85 [on oss01]
2026-11-01.09:00:00 [txg:90] scan aborted, restarting errors=0 [on oss01]
2026-11-01.09:00:05 [txg:91] scan setup func=2 mintxg=3 maxtxg=102 [on oss01]
2026-11-02.09:00:05 [txg:99] scan done errors=0 [on oss01]
2026-11-20.08:00:00 [txg:120] scan setup func=1 mintxg=0 maxtxg=120 [on oss01]
2026-11-20.08:05:00 zpool scrub -s ost_0 [user 0 (root) on oss01:linux]
2026-11-20.08:05:01 [txg:121] scan cancelled errors=0 [on oss01]
2026-11-21.08:00:00 [txg:140] scan setup func=1 mintxg=0 maxtxg=140 [on oss01]

"""


def test_each_scan_has_its_kind_its_end_and_how_long_it_took():
    found = past(parse(TEXT))
    assert [(one.function, one.outcome, one.took) for one in found] == [
        ("scrub", "runs, or its end is not in the history", ""),
        ("scrub", "cancelled", "5 min"),
        ("resilver", "finished", "24 h"),
        ("resilver", "broken off to begin anew", "60 min"),
        ("scrub", "finished", "10 h"),
    ]
    assert [one.tone for one in found] == ["idle", "idle", "good", "idle", "bad"]


def test_an_end_whose_beginning_was_left_out_and_a_beginning_without_an_end_are_not_joined():
    lines = TEXT.splitlines(keepends=True)
    assert past(parse(lines[0] + lines[2] + "\n")) == ()
    two = past(parse(lines[0] + lines[1] + lines[3] + lines[6] + "\n"))
    assert [(one.function, one.outcome) for one in two] == [
        ("resilver", "finished"),
        ("scrub", "another one began before its end was written"),
    ]
