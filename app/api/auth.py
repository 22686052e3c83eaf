"""Who asks: a token with the scope that the operation names. Cookies play no part, so no form on another site can ask in anybody's name."""

from django.http import HttpRequest
from ninja.security import HttpBearer

from app.api import rate, tokens
from app.api.models import Token
from app.api.problems import Problem
from app.core import access_log


class TokenRequest(HttpRequest):
    """What an operation with `auth=Scoped(...)` gets."""

    auth: Token


class Scoped(HttpBearer):
    """`auth=Scoped(READ)`: the operation gets the token as `request.auth`."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, text: str) -> Token:
        try:
            token = tokens.find(text)
        except tokens.NotBelieved as why:
            raise Problem("token-not-believed", str(why)) from None
        access_log.asked_by(request, token.person.username)
        if wait := rate.wait_seconds(token.prefix):
            raise Problem("too-many", f"The token {token.name} has asked too often in this minute.", headers={"Retry-After": str(wait)})
        if self.scope not in token.scopes:
            has = ", ".join(token.scopes)
            raise Problem("scope", f"This takes a token with the scope {self.scope}; the token {token.name} has {has}.")
        return token
