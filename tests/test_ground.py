"""The ground itself: rolled back, committed, and not owned by the app role."""

import pytest
from django.db import ProgrammingError, connection, transaction

from app.accounts.models import User


@pytest.mark.django_db
@pytest.mark.parametrize("turn", [1, 2])
def test_it_rolls_back(turn):
    assert not User.objects.exists()
    User.objects.create_user("ann")


@pytest.mark.parametrize("turn", [1, 2])
def test_it_gives_a_fresh_database_with_real_commits(committed_db, turn):
    with transaction.atomic():
        User.objects.create_user("ann")
    assert User.objects.count() == 1
    assert connection.settings_dict["NAME"] == committed_db


@pytest.mark.django_db
def test_it_runs_as_a_role_that_owns_nothing():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole")
        assert cursor.fetchone() == (0,)
    with pytest.raises(ProgrammingError, match="must be owner"), connection.cursor() as cursor:
        cursor.execute("DROP TABLE accounts_user")


def test_it_has_a_valkey(ground, settings):
    import redis

    assert redis.from_url(settings.REDIS_URL).ping()
