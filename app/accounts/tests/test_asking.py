"""Who is signed in, as views ask for it."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from app.accounts.asking import user_of
from app.accounts.models import User


def request_of(user: object) -> HttpRequest:
    made = HttpRequest()
    made.user = SimpleLazyObject(lambda: user)  # as Django's middleware puts it there
    return made


def test_the_person_of_the_session():
    ann = User(username="ann")
    assert user_of(request_of(ann)).username == "ann"


def test_nobody_is_a_refusal_and_never_somebody_without_a_name():
    with pytest.raises(PermissionDenied, match="Sign in"):
        user_of(request_of(AnonymousUser()))
