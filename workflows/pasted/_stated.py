"""What a sentence states of a part of storage: the thing that stands nearest to a word of trouble, and what both together mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workflows.engine.core import Severity
from workflows.pasted._notice_kinds import Kind

_THING = re.compile(
    r"(?i)(?<![\w-])(?:"
    r"(?P<link>(?:sas|sata|fc|pcie|phy|expander|hba) ?(?:ports?|links?|phys?|lanes?|cables?)|phys?(?= ?#?[0-9]))"
    r"|(?P<path>multipaths?|(?:storage|device|disk|active) paths?|paths?(?= to (?:the )?(?:dis[ck]|drive|device|lun|volume|sd[a-z])))"
    r"|(?P<array>z?pools?|storage pools?|volumes?|volsets?|(?:raid|volume) ?(?:sets?|groups?)|raid ?arrays?|raid[ -]?[0-9z]{0,2}|arrays?|diskgroups?|disk groups?|vdisks?|(?:virtual|logical) (?:dis[ck]s?|drives?|devices?)|vdevs?|mirror (?:dis[ck]s?)|mirrors?|md[0-9]{1,3}|(?:raid )?units?(?= ?[:#=]? ?#?[0-9])|aggregates?|vd ?[0-9]{1,3})"
    r"|(?P<fan>power suppl(?:y|ies)|power units?|psus?|fans?(?:[0-9]{1,2})?|enclosures?|enclosure (?:part|element)s?|shel(?:f|ves)|jbods?|emms?|iom[0-9]?|expanders?|temperature sensors?|backplanes?)"
    r"|(?P<hba>controllers?|hbas?|(?<!ups )(?<!cmos )(?<!laptop )batter(?:y|ies)|bbus?|cache (?:module|battery)|supercaps?|capacitors?)"
    r"|(?P<smart>s\.?m\.?a\.?r\.?t\.?)"
    r"|(?P<disk>(?:physical |hard |solid state )?(?:dis[ck]s?|drives?)|devices?(?! (?:eth|en[opsx]|wl|bond|br|tun|veth|lo)\w{0,12})|hdds?|ssds?|p(?:d|disk)s?|slot[ #:]{0,3}[0-9]{1,3}|bay[ #:]{0,3}[0-9]{1,3}|(?:/dev/)?(?:sd[a-z]{1,2}|nvme[0-9]{1,2}(?:n[0-9])?|a?da[0-9]{1,3})(?:p?[0-9]{1,2})?|sectors?|partity|parity|spares?|members?|dis[ck][0-9]{1,3}))"
    r"(?![\w-])"
)
_BEHIND = re.compile(r"(?i)\b(?:in|of|on|from|for|at|to|with|by)(?: the| an?)? {0,2}[\"'(\[]?$")  # stands before what only says where
_TROUBLE = re.compile(
    r"(?i)(?<![\w-])(?:"
    r"(?P<hot>overheat\w{0,4}|too hot|over ?temperature|temperature (?:is )?(?:of )?[^ ,;]{0,8} ?(?:exceed\w{0,3}|above|over|too high|high|critical)|temperature (?:warning|alarm|alert))"
    r"|(?P<worn>(?:1?[0-9]|20) ?% (?:of )?(?:its )?(?:life(?:time)?|endurance)(?: is)? (?:left|remaining)|(?:wear(?:out)?(?: level)?|percentage used|endurance used)[ :=]{1,3}(?:9[0-9]|1[0-9]{2}) ?%|spare (?:capacity|blocks?|space) (?:is )?below|worn(?: out)?|end of life)"
    r"|(?P<crc>(?:u?dma[_ ])?crc[_ ]errors?(?:[_ ]count)?|invalid dwords?(?: count)?|disparity errors?|loss of (?:dword )?sync\w{0,14})"
    r"|(?P<slow>(?:is|too|very) slow|slow(?= (?:dis[ck]|drive))|latency (?:is )?(?:too )?(?:high|above))"
    r"|(?P<degraded>failed ?[/|,] ?degraded|degraded(?: mode| state)?|degradation|unhealthy|not (?:in (?:an? )?)?(?:healthy|optimal|redundant)|only [0-9]{1,3} (?:out )?of [0-9]{1,3}|has issues|loss of redundancy|lost redundancy|redundancy (?:was |is )?lost|partially (?:failed|degraded)|insufficient|(?:rate|speed|width) (?:was |is )?(?:reduced|degraded|lowered|downgraded))"
    r"|(?P<predicted>attribute [\w-]{3,40} (?:is |has )?fail(?:ed|ing)|predict(?:ed|s|ive)?(?: to)? fail(?:ure|s)?|fail(?:ure)? (?:is )?(?:predicted|imminent|soon)|failing|about to fail|pre-?fail(?:ure)?|threshold exceeded|imminent)"
    r"|(?P<away>removed|missing|absent|disconnected|disappeared|detached|pulled(?: out)?|ejected|not (?:found|detected|present|responding)|no longer (?:detected|present|found|responding)|unplugged|plugged out|gone|by-?passed|kicked(?: out)?|dropped(?: out)?|unresponsive)"
    r"|(?P<full>is (?:almost |nearly )?full|out of space|space (?:is )?low|(?:capacity|usage|used)(?: is| at)?[ :=]{1,3}(?:is |at )?(?:9[0-9]|100) ?%)"
    r"|(?P<damaged>(?<!0 )(?<!no )(?:permanent|unrecoverable|uncorrectable) (?:data )?(?:errors?|corruption)(?= (?:were |was |have been |has been )?(?:found|detected|reported|in|on|of)\b| ?$| ?[.,;])(?! ?[:=]? ?0\b)|(?<!0 )(?<!no )(?<!known )(?<!permanent )(?<!able )data errors?(?! ?[:=]? ?0\b))"
    r"|(?P<errors>(?<!0 )(?:i/o|io|read|write|checksum|cksum|medium|media|ecc|uncorrect(?:able|ed)|unrecover(?:able|ed)|hardware)[ /]{0,2}(?:data )?errors?(?! ?[:=]? ?0\b)|tim(?:e[ -]?out|ed out)(?: error)?|bad (?:blocks?|sectors?)|unreadable|(?:current[_ ])?pending[_ ]sectors?(?:[_ ]count)?|reallocated[_ ]sectors?(?:[_ ](?:ct|count))?|offline[_ ]uncorrectable|reported[_ ]uncorrect|with [1-9][0-9]{0,9} errors|[1-9][0-9]{0,9} inconsistenc(?:y|ies)|(?<!0 )errors (?:detected|found|reported|occurred)|in error)"
    r"|(?P<warned>warnings?|caution)"
    r"|(?P<failed>fail(?:ed|ures?|(?= event))|fault(?:ed|y|s)?|dead|defective|broken|crashed|error state|unavail(?:able)?|suspended|offlined?|inactive|not (?:available|ready|accessible|online|operational)|inaccessible|unmounted|critical(?= state| ?(?:$|[:,;.)\]]))|not passed|unrecoverable(?= state)|needs? (?:replacement|to be replaced)|(?:stopped|not spinning|below (?:the )?(?:threshold|minimum|critical\w{0,3}))(?= ?(?:$|[:,;.(]))|low(?= ?(?:$|[:,;.(]| on ))|non-?recoverable|damaged|corrupt(?:ed)?|(?<!spinning )(?<!spun )(?<!powering )(?<!shutting )down|reset unexpectedly|unexpected(?:ly)? reset|bad|lost))"
    r"(?![\w-])(?! {0,24}[:=]{1,2} ?(?:0(?![0-9.])|no\b|none\b|false\b|inactive\b|n/a\b))"
)
_IS_ZERO = re.compile(
    r"[^0-9,;|]{0,30}?(?:\b(?:is|to|count|value)|[:=>]) ?(?:of )?[:=]? ?0(?![0-9.x])"
)  # behind a word of trouble: nothing of the kind was counted
# What is done with a part of storage and fails says nothing of the part itself
_OF_ACTION = re.compile(
    r"(?i)\b(?:back-?ups?|snapshots?|replications?|log-?(?:in|on)|(?:firmware|software) ?(?:update|upgrade|download)s?|updates?|upgrades?|sync(?:hroni[sz]ation)?s?|jobs?|tasks?|requests?|authentications?|licen[sc]es?|quotas?|exports?|transfers?|uploads?|downloads?|services?|queries)\b"
)
IS_RULE = re.compile(r"\s{0,60}(?:expr: ?\S|- alert: ?\w|for: ?[0-9]{1,4}[smhd]\s*$)")  # when a monitor is to alert, and no alert of it
_REBUILD = re.compile(r"(?i)\b(?:rebuild\w{0,3}|resync\w{0,8}|reconstruction|resilver\w{0,3})\b")
_OF_FAN_ALONE = re.compile(r"(?i)stopped|not spinning|below .{0,20}")
_OF_BATTERY_ALONE = re.compile(r"(?i)low|needs? .{0,20}")
_MEANS: dict[tuple[str, str], tuple[str, Severity, str]] = {
    ("array", "degraded"): ("vdev-degraded", "act", "an array or a pool is degraded"),
    ("array", "failed"): ("pool-down", "act", "an array, volume or pool is down"),
    ("array", "away"): ("pool-down", "act", "an array, volume or pool is away"),
    ("array", "full"): ("pool-filling", "watch", "a pool or volume fills up"),
    ("array", "damaged"): ("data-errors", "act", "a pool or volume has data that cannot be read whole"),
    ("smart", "damaged"): ("disk-errors", "watch", "a disk has blocks or commands that failed"),
    ("link", "damaged"): ("link-crc", "watch", "a link or a port on the way to disks counts errors"),
    ("disk", "damaged"): ("disk-errors", "watch", "a disk has blocks or commands that failed"),
    ("array", "errors"): ("unexplained", "watch", "an array or a pool counts errors"),
    ("disk", "failed"): ("disk-failing", "act", "a disk has failed"),
    ("disk", "predicted"): ("disk-failing", "act", "its own record says that it fails or will fail"),
    ("disk", "degraded"): ("disk-errors", "watch", "a disk is no longer as it should be"),
    ("disk", "away"): ("disk-missing", "watch", "a disk is away"),
    ("disk", "errors"): ("disk-errors", "watch", "a disk has blocks or commands that failed"),
    ("disk", "slow"): ("slow-disk", "watch", "a disk answers slowly"),
    ("disk", "crc"): ("link-crc", "watch", "transfers to a disk came damaged, or its link failed"),
    ("smart", "crc"): ("link-crc", "watch", "transfers to a disk came damaged, or its link failed"),
    ("link", "crc"): ("link-crc", "watch", "a link or a port on the way to disks counts errors"),
    ("disk", "hot"): ("disk-hot", "watch", "a disk is too hot"),
    ("disk", "worn"): ("disk-worn", "watch", "an SSD is worn"),
    ("link", "failed"): ("link-crc", "watch", "a link or a port on the way to disks is not as it should be"),
    ("link", "degraded"): ("link-crc", "watch", "a link or a port on the way to disks is not as it should be"),
    ("link", "away"): ("link-crc", "watch", "a link or a port on the way to disks is not as it should be"),
    ("link", "errors"): ("link-crc", "watch", "a link or a port on the way to disks counts errors"),
    ("path", "failed"): ("path-lost", "watch", "a path to a disk is lost"),
    ("path", "degraded"): ("path-lost", "watch", "a path to a disk is lost"),
    ("path", "away"): ("path-lost", "watch", "a path to a disk is lost"),
    ("smart", "errors"): ("disk-errors", "watch", "a disk has blocks or commands that failed"),
    ("smart", "failed"): ("disk-failing", "act", "its own record says that it fails or will fail"),
    ("smart", "predicted"): ("disk-failing", "act", "its own record says that it fails or will fail"),
    ("smart", "warned"): ("disk-failing", "act", "its own record warns of it"),
}
_OF_PART: tuple[str, Severity, str] = ("enclosure-fault", "watch", "a part of the machine or of a shelf failed")
_OF_HBA: tuple[str, Severity, str] = ("hba-fault", "watch", "a controller, or its battery, is not well")
_OFFLINE = re.compile(r"(?i)offlined?|unavail(?:able)?|not (?:available|accessible|ready|online)|lost|down")  # of a disk: it is not there
_BACKWARDS = 15  # how much farther a thing counts that stands behind the word of trouble


def words(text: str) -> str:
    """The text with its names taken apart: "ZfsPoolDegraded" and "POOL_DEGRADED" are words, too; "zpool_status" is a name."""
    return re.sub(r"(?<=[A-Z])_(?=[A-Z])|[\t=]", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))


def things(text: str) -> Iterator[re.Match[str]]:
    """The parts of storage that it names."""
    return _THING.finditer(words(text))


def of_statement(text: str) -> Kind | None:
    """What it states; None where no part of storage stands beside a word of trouble."""
    return found[0] if (found := with_order(text)) else None


def with_order(text: str) -> tuple[Kind, int] | None:
    """What it states, and where the word of trouble begins when it stands before the thing; -1 when the thing comes first, as in a report."""
    found = list(_statements(words(text)))
    if not found:
        return None
    kind, at = found[0]
    return (kind, -1) if any(other == kind and before < 0 for other, before in found) else (kind, at)


def _statements(text: str) -> Iterator[tuple[Kind, int]]:
    """Every thing beside a word of trouble that means something, the nearest first."""
    found = list(_THING.finditer(text))
    subjects = [thing for thing in found if not _BEHIND.search(text, max(0, thing.start() - 12), thing.start())] or found
    near = [
        (thing.start() - trouble.end() + _BACKWARDS if thing.start() >= trouble.end() else trouble.start() - thing.end(), i, thing, trouble)
        for i, trouble in enumerate(_TROUBLE.finditer(text))
        for thing in subjects
        if (thing.start() >= trouble.end() or trouble.start() >= thing.end()) and not _IS_ZERO.match(text, trouble.end())
    ]
    for _, _, thing, trouble in sorted(near, key=lambda each: each[:2]):
        if trouble.lastgroup == "failed" and _is_action_that(text, thing, trouble):
            continue
        if meant := _meant(thing.lastgroup or "", trouble.lastgroup or "", trouble.group(), text):
            yield (_TROUBLE, *meant), trouble.start() if thing.start() >= trouble.end() else -1


_BREAK = re.compile(r"[:;|] | -{1,2} |, ")
_RUN = re.compile(r"(?i)jobs?|tasks?")  # what it is about stands behind its name: "Backup job VM1: disk 1 failed"
FAILED_AT_MAX = 25  # characters between "failed" and what was being done


def _is_action_that(text: str, thing: re.Match[str], trouble: re.Match[str]) -> bool:
    """Whether "failed" is said of something that is done with this thing. What is done elsewhere in the sentence says nothing of it: "Backup server: disk 3
    failed", "disk 3 failed during the backup"."""
    first, last = sorted((thing, trouble), key=lambda each: each.start())
    for action in _OF_ACTION.finditer(text):
        if action.start() >= last.end():
            between = text[last.end() : action.start()]
            if (
                last is trouble
                and len(between) <= FAILED_AT_MAX
                and not _BREAK.search(between)
                and not re.search(r"\b(?:during|while|in|after)\b", between)
            ):
                return True
        elif action.start() >= first.end() or _RUN.fullmatch(action.group()):
            return True
        else:
            label = text[action.end() : first.start()]
            if not _BREAK.search(label) or _BREAK.match(label):
                return True
    return False


def is_of_action(text: str) -> bool:
    """Whether something that is done with a part of storage is what failed."""
    return _OF_ACTION.search(text) is not None


def _meant(thing: str, trouble: str, word: str, text: str) -> tuple[str, Severity, str] | None:
    if thing == "fan":
        return (
            None
            if trouble in ("full", "errors", "damaged", "warned", "worn", "crc", "slow") or _OF_BATTERY_ALONE.fullmatch(word)
            else _OF_PART
        )
    if thing == "hba":
        return (
            None
            if trouble in ("full", "errors", "damaged", "warned", "hot", "worn", "crc", "slow") or _OF_FAN_ALONE.fullmatch(word)
            else _OF_HBA
        )
    if _OF_FAN_ALONE.fullmatch(word) or _OF_BATTERY_ALONE.fullmatch(word):
        return _MEANS["disk", "failed"] if thing == "disk" and word.lower().startswith("need") else None
    if thing in ("array", "disk") and trouble == "failed" and _REBUILD.search(text):
        return _MEANS["array", "degraded"]  # it has not got its redundancy back
    if thing == "array" and word.lower() == "suspended":
        return "pool-suspended", "act", "a pool is suspended"
    if thing == "array" and word.lower().startswith("critical"):
        return _MEANS["array", "degraded"]  # so controllers call one that has lost its redundancy
    if thing == "disk" and word.lower() == "caution":
        return _MEANS["disk", "degraded"]
    if (thing, trouble) == ("disk", "failed") and _OFFLINE.fullmatch(word):
        return _MEANS["disk", "away"]
    return _MEANS.get((thing, trouble))
