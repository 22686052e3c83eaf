"""Who may do what, and where: the one place that answers. Asked again at every act, at sealing, and when the node takes the order.

Rights come from memberships: a role in a team holds for that team's nodes, a role without a team for the whole fleet. A node without
a team is left to roles without a team. An inactive person has no right anywhere, and no flag on a person replaces a role. A role that was
given, and an account that was changed, by one administrator alone gives no right for a day: see `app.accounts.waiting`.

Everybody who can sign in may look at every node, whatever team it belongs to: at 3 a.m. the one who is awake must be able to see what
is wrong with a neighbour's pool, and locks, spares and enclosures are shared between teams anyway. Teams divide acting, not seeing.
"""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from app.accounts import kinds, seals, waiting
from app.accounts.models import Membership, Role, Team, User
from app.core.compiled_queries import Row, WrittenOnce

MANUAL, OPERATE, APPROVE, BREAK_GLASS = "runs.manual", "runs.operate", "runs.approve", "runs.break_glass"
ENROL, PEOPLE = "nodes.enrol", "accounts.people"
NOTICES = "notices.manage"

RIGHTS_OF: Mapping[Role, tuple[str, ...]] = {
    Role.VIEWER: (),
    Role.TECHNICIAN: (MANUAL,),
    Role.OPERATOR: (MANUAL, OPERATE),
    Role.APPROVER: (MANUAL, OPERATE, APPROVE),
    Role.BREAKER: (MANUAL, OPERATE, BREAK_GLASS),
    Role.ADMIN: (ENROL, PEOPLE, NOTICES),  # lets nodes and people in, and is no operator by that
}
FACTORS = ("totp", "webauthn")
RIGHTS = (MANUAL, OPERATE, APPROVE, BREAK_GLASS, ENROL, PEOPLE, NOTICES)
ROLES_WITH = {right: tuple(role.value for role, rights in RIGHTS_OF.items() if right in rights) for right in RIGHTS}
TAKES = {
    MANUAL: "a technician, an operator or an approver",
    OPERATE: "an operator or an approver",
    APPROVE: "an approver",
    BREAK_GLASS: "a glass-breaker",
    ENROL: "an administrator",
    PEOPLE: "an administrator",
    NOTICES: "an administrator",
}


def _sealed(held: QuerySet[Membership]) -> QuerySet[Membership, Row]:
    """Roles, each with what its seal and that of its person are checked by; for `gives_right`."""
    held = seals.with_seals(seals.with_seals(held, kinds.MEMBERSHIP, prefix="held"), kinds.USER, "user__", "who")
    return held.values_list(*seals.columns(kinds.MEMBERSHIP, prefix="held"), *seals.columns(kinds.USER, "user__", "who"))


def _having(held: QuerySet[Membership], roles: tuple[str, ...]) -> WrittenOnce:
    rows = _sealed(held.filter(user__is_active=True, role__in=roles).order_by())
    return WrittenOnce(lambda pk, node: rows.filter(Q(team=None) | Q(team__nodes__name=node), user_id=pk))


HELD = len(seals.columns(kinds.MEMBERSHIP))
TEAM = kinds.MEMBERSHIP.fields.index("team_id")
ROLE_COUNTS = kinds.MEMBERSHIP.fields.index("counts_at")
ACCOUNT_COUNTS = HELD + kinds.USER.fields.index("counts_at")


def gives_right(rows: list[Row], right: str, node: object = None) -> bool:
    """Whether one of these rows of a query of `roles_with` gives the right: this portal wrote it and its person's, both count by now,
    and the node is that team's."""
    good = [row for row in rows if not _fault(row) and not _waits(row, right)]
    return any(row[TEAM] is None for row in good) or (bool(good) and not (node and _is_moved(str(node))))


def _fault(row: Row) -> str:
    return seals.fault(kinds.MEMBERSHIP, row[:HELD]) or seals.fault(kinds.USER, row[HELD:])


def _waits(row: Row, right: str) -> bool:
    """Work at the rack is asked for by another person, so what was done to the account does not stop them."""
    ends = (row[ROLE_COUNTS], None if right == MANUAL else row[ACCOUNT_COUNTS])
    return any(end is not None and timezone.now() < end for end in ends)


def _is_moved(node: str) -> bool:
    """Whether anything but this portal set which team has the node."""
    return bool(seals.why_not(Team._meta.get_field("nodes").related_model, name=node))


def _holds(user: User, right: str, node: object, asked: WrittenOnce) -> bool:
    def ask() -> tuple[list[Row], bool]:
        rows = asked(user.pk, str(node or ""))
        return rows, gives_right(rows, right, node)

    rows, is_so = seals.twice(ask, lambda found: found[1] or all(_waits(row, right) and not _fault(row) for row in found[0]))
    if is_so:
        return True
    for row in rows:
        seals.noted(kinds.MEMBERSHIP, row[:HELD])
        seals.noted(kinds.USER, row[HELD:])
    return False


# Who has no password signs in through the identity provider, and brings its factors.
_PROVEN = Membership.objects.filter(Q(user__authenticator__type__in=FACTORS) | Q(user__password__startswith="!"))
_HERE = {right: _having(Membership.objects.all(), roles) for right, roles in ROLES_WITH.items()}
_HERE_PROVEN = {right: _having(_PROVEN, roles) for right, roles in ROLES_WITH.items()}


def may(user: User, right: str, node: object = None) -> bool:
    """Whether this person has the right on this node (a `Node` or its name) now; without a node, for the whole fleet.

    Read from the database: what a session remembers may be old. An unknown node belongs to no team.
    """
    return _holds(user, right, node, roles_with(right)) and (not wants_factor(right) or _has_factor(user))


def roles_with(right: str) -> WrittenOnce:
    """The query behind `may`: asked with a person's key and a node's name it gives a row for each role that gives the right there, if it is `gives_right`."""
    return (_HERE_PROVEN if wants_factor(right) else _HERE)[right]


def wants_factor(right: str) -> bool:
    """Whether this installation gives the right only to people who have set up a second factor (SLOTLIGHT_REQUIRE_SECOND_FACTOR)."""
    return settings.REQUIRE_SECOND_FACTOR and right != MANUAL


def _has_factor(user: User) -> bool:
    """Whether a factor that this portal set up is there, or the identity provider's serves."""
    factors = seals.read(kinds.FACTOR, user_id=user.pk, type__in=FACTORS)
    return not factors or any(not seals.fault(kinds.FACTOR, row) for row in factors)


def lacks_factor(user: User) -> bool:
    """Whether some right of this person rests until a second factor is set up."""
    held = Membership.objects.filter(user_id=user.pk, user__is_active=True).exclude(role__in=(Role.VIEWER, Role.TECHNICIAN))
    return settings.REQUIRE_SECOND_FACTOR and held.exists() and not _PROVEN.filter(user_id=user.pk).exists()


def may_somewhere(user: User, right: str) -> bool:
    """Whether it is worth showing what asks for this right at all. It allows nothing: ask `may` with the node before anything is done."""
    held = _PROVEN if wants_factor(right) else Membership.objects.all()
    return gives_right(list(_sealed(held.filter(user_id=user.pk, user__is_active=True, role__in=ROLES_WITH[right]))), right)


def holders(right: str, node: object = None) -> QuerySet[User]:
    """Everybody who has the right there now, by name."""
    held = _PROVEN if wants_factor(right) else Membership.objects.all()
    here = held.filter(Q(team=None) | Q(team__nodes__name=str(node or "")), waiting.counting(), role__in=ROLES_WITH[right])
    return User.objects.filter(waiting.counting(), pk__in=here.values("user"), is_active=True).order_by("username")


def rests(user: User, right: str, node: object = None) -> str:
    """Why a right that this person has there does not count yet, and what to do; "" when it counts, or nothing gives it."""
    rows = [row for row in _HERE[right](user.pk, str(node or "")) if not _fault(row)]
    if not rows or gives_right(rows, right):
        return ""
    found = waiting.of(User.objects.get(pk=user.pk))
    roles = {row[0] for row in rows}
    return next((waiting.why(one) for one in found if isinstance(one, User) or one.pk in roles), "")


def why_not(user: User, right: str, node: object = None) -> str:
    """Why this person may not do this there; "" when it may. For a page."""
    if may(user, right, node):
        return ""
    if why := rests(user, right, node):
        return why
    if wants_factor(right) and _holds(user, right, node, _HERE[right]):
        return f"{user.get_username()} may not do this without a second factor. Set one up on the page of your account."
    where = f" for {node}" if node else " for the whole fleet"
    return f"{user.get_username() or 'Who is not signed in'} may not do this. It takes {TAKES[right]}{where}."
