import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from app.accounts.models import User
from app.once import WrittenOnce
from app.runs.rights import APPROVE, OPERATE, may

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


def test_a_right_is_what_django_says_it_is():
    people = {name: User.objects.create_user(name) for name in ("nobody", "operator", "approver", "by hand", "retired")}
    people["root"] = User.objects.create_superuser("root")
    people["operator"].groups.add(Group.objects.get(name="operators"))
    people["approver"].groups.add(Group.objects.get(name="approvers"))
    people["by hand"].user_permissions.add(Permission.objects.get(codename="approve"))
    people["retired"].groups.add(Group.objects.get(name="approvers"))
    User.objects.filter(username="retired").update(is_active=False)
    for person in User.objects.all():
        for right in (OPERATE, APPROVE):
            assert may(person, right) == person.has_perm(right), (person, right)
    assert not may(User(), OPERATE)
    people["operator"].groups.clear()
    assert not may(people["operator"], OPERATE), "what was taken away is gone at once"
