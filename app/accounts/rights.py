"""Who may do what, and where: the one place that answers. Asked again at every act, at sealing, and when the node takes the order.

Rights come from memberships: a role in a team holds for that team's nodes, a role without a team for the whole fleet. A node without
a team is left to roles without a team. An inactive person has no right anywhere, and no flag on a person replaces a role.

Everybody who can sign in may look at every node, whatever team it belongs to: at 3 a.m. the one who is awake must be able to see what
is wrong with a neighbour's pool, and locks, spares and enclosures are shared between teams anyway. Teams divide acting, not seeing.
"""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Q, QuerySet

from app.accounts.models import Membership, Role, User
from app.once import WrittenOnce

MANUAL, OPERATE, APPROVE, BREAK_GLASS = "runs.manual", "runs.operate", "runs.approve", "runs.break_glass"
ENROL, PEOPLE = "nodes.enrol", "accounts.people"
NOTICES = "notices.manage"

RIGHTS_OF: Mapping[str, tuple[str, ...]] = {
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


def _having(held: QuerySet[Membership], roles: tuple[str, ...]) -> WrittenOnce:
    held = held.filter(user__is_active=True, role__in=roles).order_by()
    return WrittenOnce(lambda pk, node: held.filter(Q(team=None) | Q(team__nodes__name=node), user_id=pk).values_list("role"))


# Who has no password signs in through the identity provider, and brings its factors.
_PROVEN = Membership.objects.filter(Q(user__authenticator__type__in=FACTORS) | Q(user__password__startswith="!"))
_HERE = {right: _having(Membership.objects.all(), roles) for right, roles in ROLES_WITH.items()}
_HERE_PROVEN = {right: _having(_PROVEN, roles) for right, roles in ROLES_WITH.items()}


def may(user: User, right: str, node: object = None) -> bool:
    """Whether this person has the right on this node (a `Node` or its name) now; without a node, for the whole fleet.

    Read from the database: what a session remembers may be old. A node that nobody knows belongs to no team.
    """
    return bool(roles_with(right)(user.pk, str(node or "")))


def roles_with(right: str) -> WrittenOnce:
    """The query behind `may`: asked with a person's key and a node's name it gives a row for each role that gives the right there."""
    return (_HERE_PROVEN if wants_factor(right) else _HERE)[right]


def wants_factor(right: str) -> bool:
    """Whether this installation gives the right only to people who have set up a second factor (SLOTLIGHT_REQUIRE_SECOND_FACTOR)."""
    return settings.REQUIRE_SECOND_FACTOR and right != MANUAL


def lacks_factor(user: User) -> bool:
    """Whether some right of this person rests until a second factor is set up."""
    held = Membership.objects.filter(user_id=user.pk, user__is_active=True).exclude(role__in=(Role.VIEWER, Role.TECHNICIAN))
    return settings.REQUIRE_SECOND_FACTOR and held.exists() and not _PROVEN.filter(user_id=user.pk).exists()


def may_somewhere(user: User, right: str) -> bool:
    """Whether it is worth showing what asks for this right at all. It allows nothing: ask `may` with the node before anything is done."""
    held = _PROVEN if wants_factor(right) else Membership.objects.all()
    return held.filter(user_id=user.pk, user__is_active=True, role__in=ROLES_WITH[right]).exists()


def holders(right: str, node: object = None) -> QuerySet[User]:
    """Everybody who has the right there now, by name."""
    held = _PROVEN if wants_factor(right) else Membership.objects.all()
    here = held.filter(Q(team=None) | Q(team__nodes__name=str(node or "")), role__in=ROLES_WITH[right])
    return User.objects.filter(pk__in=here.values("user"), is_active=True).order_by("username")


def why_not(user: User, right: str, node: object = None) -> str:
    """Why this person may not do this there; "" when it may. For a page."""
    if may(user, right, node):
        return ""
    if wants_factor(right) and _HERE[right](user.pk, str(node or "")):
        return f"{user.get_username()} may not do this without a second factor. Set one up on the page of your account."
    where = f" for {node}" if node else " for the whole fleet"
    return f"{user.get_username() or 'Who is not signed in'} may not do this. It takes {TAKES[right]}{where}."
