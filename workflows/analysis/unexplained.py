"""Words that nothing explains. Run after all detectors: what a source said that is neither good nor neutral, and that no situation is about.

So an entry of a table holds only as long as its situation is found, and a word of a release not yet written raises by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workflows.engine.core import Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, imported_pools, known
from workflows.facts import source_names as words
from workflows.vocabulary import notes, sentences
from workflows.vocabulary.tokens import WORDS_SHOWN_MAX, Token, tokens

SLUG = "unexplained"
PLACES_SHOWN = 6
LINES_SHOWN = 12
KEY_CHARACTERS = 12
REPEATS = ("kstat_pools", "zpool_list")  # what they say of a pool, `zpool status` says too
OF_A_LEAF = 2  # names of one: as it is printed, and its guid


def detect(fleet: FleetFacts, found: Sequence[Situation]) -> tuple[Situation, ...]:
    """One situation a node for each source and word that `found` does not explain; `signs` counts the same word over the fleet."""
    imported = frozenset(guid for guid in imported_pools(fleet) if isinstance(guid, int))
    return tuple(one for node in fleet.nodes.values() for one in _of_node(node, found, imported))


def signs(situations: Iterable[Situation]) -> Mapping[str, int]:
    """How many nodes say each unexplained word: what is listed, noticed and reviewed once for the whole fleet."""
    counts: dict[str, int] = {}
    for one in situations:
        if one.slug == SLUG:
            counts[one.subject["sign"]] = counts.get(one.subject["sign"], 0) + 1
    return counts


def _of_node(node: NodeFacts, found: Sequence[Situation], imported: frozenset[int]) -> Iterator[Situation]:
    found_tokens = list(tokens(node, imported))
    if not found_tokens:
        return
    about = [one for one in found if node.node in (one.node, one.subject.get("other_node"))]
    ill = _Ill.of(node, found_tokens)
    groups: dict[str, list[Token]] = {}
    for token in _distinct([one for one in found_tokens if not _explained(one, about) and not (one.is_past and ill.is_over(one))]):
        groups.setdefault(token.sign, []).append(token)
    for sign, group in groups.items():
        yield _situation(node, sign, group)


def _distinct(left: list[Token]) -> list[Token]:
    """Without what only says again what another of them says.

    That is the note behind an unexplained state, the message id of a `status:`, and another source's word for the state of a pool.
    """
    states = {(one.pool, one.where) for one in left if one.source == "zpool_status" and one.position.startswith("state of")}
    statuses = {one.pool for one in left if one.position == sentences.STATUS.position}
    return [
        one
        for one in left
        if not (one.position == notes.ROW.position and (one.pool, one.where) in states)
        and not (one.position == sentences.MESSAGE.position and one.pool in statuses)
        and not (one.source in REPEATS and (one.pool, one.pool) in states)
    ]


@dataclass(frozen=True)
class _Ill:
    """Which pools of a node have a row that is not well, and which leaves are."""

    pools: frozenset[str]
    leaves: frozenset[str]  # names and guids
    here: frozenset[str]  # the pools whose rows were read
    listed: frozenset[str]  # the pools that `zpool import` lists: how they are, its own rows say
    all_known: bool
    silent: bool  # `zpool status` failed, hangs or is not there: what its rows would explain is not known, and is shown as that

    @classmethod
    def of(cls, node: NodeFacts, found: Iterable[Token]) -> _Ill:
        ill = frozenset(token.pool for token in found if token.pool and not token.is_past and (token.grave or token.vdevs))
        read = frozenset(pool.name for pool in node.pools_read if pool.tops_read)
        listed = frozenset(pool.name for pool in node.importable_read)
        leaves = frozenset(name for token in found if not token.is_past and len(token.vdevs) <= OF_A_LEAF for name in token.vdevs)
        return cls(ill, leaves, read, listed, known(node.pools) and all(known(pool.tops) for pool in node.pools), _is_silent(node))

    def is_over(self, token: Token) -> bool:
        """Whether what happened left nothing: the member or pool it names is well by its own rows, or is not imported any more."""
        if self.silent:
            return True
        if not token.pool:
            return self.all_known and not self.pools
        if token.pool not in self.here:
            return self.all_known or token.pool in self.listed
        return token.vdevs.isdisjoint(self.leaves) if token.vdevs else token.pool not in self.pools


def _is_silent(node: NodeFacts) -> bool:
    return "zpool_status" in node.absent or "zpool_status" in node.failures


def _explained(token: Token, about: Iterable[Situation]) -> bool:
    return token.meaning is not None and any(one.slug in token.meaning.slugs and _is_about(one, token) for one in about)


def _is_about(one: Situation, token: Token) -> bool:
    """Whether a situation is about the thing a token names. A situation with a gate, or without a vdev, is about all of its pool."""
    if token.pool and not _of_pool(one, token.pool):
        return False
    if token.vdevs and not one.gate and (named := vdevs_of(one)):
        # What happened names the path of that moment, as the situation of a lost member does.
        return not named.isdisjoint(token.vdevs) or (token.is_past and one.subject.get("was", "") in token.vdevs)
    if token.wwid and (wwids := _wwids_of(one)):
        return token.wwid in wwids
    return True


def _of_pool(one: Situation, pool: str) -> bool:
    """A situation that names no pool is about its node, and so about each pool of it."""
    pools = {one.subject.get("pool", ""), *one.subject.get("pools", "").split(" ")} - {""}
    return not pools or pool in pools


def vdevs_of(one: Situation) -> frozenset[str]:
    """Guids or names of the vdevs that a situation names; none where it is about the whole pool."""
    subject = one.subject
    named = (*one.vdevs, subject.get("vdev_guid", ""), subject.get("spare_guid", ""), *subject.get("vdev_guids", "").split(" "))
    return frozenset(name for name in named if name)


def _wwids_of(one: Situation) -> frozenset[str]:
    return frozenset(name for name in (one.subject.get("wwid", ""), *one.subject.get("wwids", "").split(" ")) if name)


def _situation(node: NodeFacts, sign: str, group: list[Token]) -> Situation:
    first, grave = group[0], any(token.grave for token in group)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{first.source}:{_digest(sign)}",
        node=node.node,
        severity="act" if grave else "watch",
        title=_title(first, group),
        meaning=" ".join(_meaning(node, first, group, grave)),
        evidence=tuple(_evidence(node, group)),
        subject=_subject(node, sign, group),
        sure=False,
        vdevs=tuple(sorted({name for token in group for name in token.vdevs})),
    )


def _title(first: Token, group: list[Token]) -> str:
    places = list(dict.fromkeys(token.where for token in group))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{places[0]}{more}: “{_shown(first)}” is not explained"


def _shown(token: Token) -> str:
    """Without line breaks, and not longer than a page has room for."""
    words = " ".join(token.text.split())
    return words if len(words) <= WORDS_SHOWN_MAX else f"{words[:WORDS_SHOWN_MAX]}…"


def _meaning(node: NodeFacts, first: Token, group: list[Token], grave: bool) -> Iterator[str]:
    places = list(dict.fromkeys(token.where for token in group))
    more = f" and {len(places) - PLACES_SHOWN} more" if len(places) > PLACES_SHOWN else ""
    yield f"The {words.of(first.source)} of {node.node} says “{_shown(first)}” ({first.position}) of {', '.join(places[:PLACES_SHOWN])}{more}."
    if first.meaning is None:
        yield "Slotlight does not know this word: it may come from a newer release, or from a fault that was not seen before."
    else:
        yield "It says that something is not as it should be, and no situation that was found here says what."
    if grave:
        yield (
            "Until its meaning is known, take the pool for one that may lose data: replace, clear, export and power off nothing. "
            "Look at `zpool status -v`, `zpool events -v` and the kernel log, and at cables and enclosures, in this order."
        )
    else:
        yield (
            "Nothing may be wrong. If it is not looked at, a fault may go unseen. Look the word up in the manual of this release, and look at the "
            "evidence below; an administrator can then mark it as reviewed."
        )


def _evidence(node: NodeFacts, group: list[Token]) -> Iterator[Evidence]:
    for token in group[:LINES_SHOWN]:
        source = token.key or token.source
        yield Evidence(node.node, source, node.digests.get(source, ""), token.line)


def _short(sign: str) -> str:
    """What a word is reviewed by. Two long ones that begin alike stay two."""
    return sign if len(sign) <= WORDS_SHOWN_MAX else f"{sign[: WORDS_SHOWN_MAX - KEY_CHARACTERS - 1]}~{_digest(sign)}"


def _digest(sign: str) -> str:
    return hashlib.sha256(sign.encode()).hexdigest()[:KEY_CHARACTERS]


def _subject(node: NodeFacts, sign: str, group: list[Token]) -> dict[str, str]:
    first, pools = group[0], list(dict.fromkeys(token.pool for token in group if token.pool))
    wwids = list(dict.fromkeys(token.wwid for token in group if token.wwid))
    fields = {"node": node.node, "source": first.source, "position": first.position, "text": _shown(first), "sign": _short(sign)}
    fields |= {"count": str(len(group)), "where": ", ".join(dict.fromkeys(token.where for token in group[:PLACES_SHOWN]))}
    fields |= {"pool": pools[0]} if len(pools) == 1 else {"pools": " ".join(pools)} if pools else {}
    return fields | ({"wwid": wwids[0]} if len(wwids) == 1 else {"wwids": " ".join(wwids)} if wwids else {})
