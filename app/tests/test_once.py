import pytest
from django.utils import timezone

from app.accounts.models import User
from app.once import WrittenOnce

pytestmark = pytest.mark.django_db


@WrittenOnce
def named_since(name, since):
    return User.objects.filter(username=name, date_joined__gte=since, is_active=True).order_by("pk").values_list("pk", "username")


def test_it_gives_the_rows_of_the_values_it_is_asked_with(django_assert_num_queries):
    began = timezone.now()
    ann, bob = User.objects.create_user("ann"), User.objects.create_user("bob")
    named_since("nobody", began)
    with django_assert_num_queries(3):
        assert named_since("ann", began) == [(ann.pk, "ann")]
        assert named_since("bob", began) == [(bob.pk, "bob")]
        assert named_since("ann", timezone.now()) == []


def test_a_value_is_never_taken_for_sql():
    assert named_since("ann' OR 'a' = 'a", timezone.now()) == []
