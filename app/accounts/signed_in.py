"""Who asks: the session behind a cookie, and the person behind a session. Asked with every request, so written once (`app.core.compiled_queries`).

Neither is taken from a row that this portal did not write; see `app.accounts.seals`. Django's own session store and allauth's backend do all else.
"""

from datetime import datetime

from allauth.account.auth_backends import AuthenticationBackend
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from app.accounts import encrypted_sessions, kinds, seals
from app.accounts.models import User
from app.core.compiled_queries import ModelsWrittenOnce


@ModelsWrittenOnce
def live_sessions(key: str, now: datetime) -> QuerySet[Session]:
    return seals.with_seals(Session.objects.filter(session_key=key, expire_date__gt=now), kinds.SESSION)


@ModelsWrittenOnce
def people(pk: int) -> QuerySet[User]:
    return seals.with_seals(User.objects.filter(pk=pk), kinds.USER)


class SessionStore(encrypted_sessions.SessionStore):
    """`SESSION_ENGINE` names this module."""

    def _get_session_from_db(self) -> Session | None:
        found = seals.first_accepted(lambda: live_sessions(self.session_key, timezone.now()))
        if found is None:
            self._session_key = None
        return found

    async def _aget_session_from_db(self) -> Session | None:
        return await sync_to_async(self._get_session_from_db)()


class Backend(AuthenticationBackend):
    """`AUTHENTICATION_BACKENDS` names this one."""

    def get_user(self, user_id: int) -> User | None:
        found = seals.first_accepted(lambda: people(user_id))
        return found if found is not None and self.user_can_authenticate(found) else None
