"""Who asks: the session behind a cookie, and the person behind a session. Asked with every request, so written once (`app.once`).

Django's own session store and allauth's backend do all else.
"""

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from app.accounts.models import User
from app.once import ModelsWrittenOnce


@ModelsWrittenOnce
def live_sessions(key, now):
    return Session.objects.filter(session_key=key, expire_date__gt=now)


@ModelsWrittenOnce
def people(pk):
    return User.objects.filter(pk=pk)


class SessionStore(db.SessionStore):
    """`SESSION_ENGINE` names this module."""

    def _get_session_from_db(self) -> Session | None:
        found = next(iter(live_sessions(self.session_key, timezone.now())), None)
        if found is None:
            self._session_key = None
        return found


class Backend(AuthenticationBackend):
    """`AUTHENTICATION_BACKENDS` names this one."""

    def get_user(self, user_id: int) -> User | None:
        found = next(iter(people(user_id)), None)
        return found if found is not None and self.user_can_authenticate(found) else None
