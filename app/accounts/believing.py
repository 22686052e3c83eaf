"""Whether what proves a person was written by this portal: the account with its password, every factor, every link to the identity provider.

Asked where a person signs in, and where a person proves once more who is there.
"""

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from app.accounts import factors, seals
from app.accounts.models import User


def why_not(person: User) -> str:
    """Why not, with what to do; "" when all of it was."""
    asked = ((User, {"pk": person.pk}), (Authenticator, {"user_id": person.pk}), (SocialAccount, {"user_id": person.pk}))
    forged = next((why for model, which in asked if (why := seals.why_not(model, **which))), "")
    return forged or factors.why_not(person)
