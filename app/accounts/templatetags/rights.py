"""What a page may ask about its reader. A button that is not shown is no guard: the act asks again."""

from typing import Any

from allauth.account.adapter import get_adapter
from django import template
from django.template import Context

from app.accounts import rights

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: Context, right: str, node: object = None) -> bool:
    """`{% may "nodes.enrol" node as may_enrol %}`; without a node, for the whole fleet."""
    return rights.may(context["request"].user, right, node)


@register.simple_tag(takes_context=True)
def may_somewhere(context: Context, right: str) -> bool:
    """Whether the reader has this right on any node."""
    return rights.may_somewhere(context["request"].user, right)


@register.simple_tag(takes_context=True)
def ways_to_prove(context: Context) -> list[dict[str, Any]]:
    """The pages on which this reader can prove it once more, apart from those it has nothing for."""
    fields = {
        "reauthenticate": "Use your password",
        "mfa_reauthenticate": "Use a code of your app",
        "mfa_reauthenticate:webauthn": "Use a passkey",
    }
    found = get_adapter().get_reauthentication_methods(context["request"].user)
    return [way | {"description": fields.get(way["id"], way["description"])} for way in found]
