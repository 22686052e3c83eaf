"""What the page of a person shows of tokens. The page is that of `app.accounts`, which does not know this app."""

from django import template

from app.accounts.models import User
from app.api import tokens
from app.api.models import Token

register = template.Library()


@register.simple_tag
def open_tokens(person: User) -> list[Token]:
    """`{% open_tokens person as found %}`: those that open something now, the newest first."""
    return [token for token in tokens.listed(person) if tokens.is_open(token)]
