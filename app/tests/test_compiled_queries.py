import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from app.accounts.models import User
from app.core.compiled_queries import ConvertedWrittenOnce, ModelsWrittenOnce, WrittenOnce, add, in_one_go, save, together
from app.fleet.models import Node, Report, Standing

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


@ModelsWrittenOnce
def nodes(name):
    return Node.objects.filter(name=name).select_related("report", "standing").defer("version")


def test_models_come_as_django_makes_them(django_assert_num_queries):
    now = timezone.now()
    for name in ("oss01", "oss02"):
        Report.objects.create(
            node=Node.objects.create(name=name, asked={"zpool_status": 1.5}), captures={"zpool_status": "ab"}, changed_at=now
        )
    Standing.objects.create(node=Node.objects.get(name="oss01"), settled_at=now, changed_at=now, rank=0, tone="bad", why="", restless=False)
    nodes("nobody")
    with django_assert_num_queries(2):
        [one], [two] = nodes("oss01"), nodes("oss02")
        assert (one.asked, one.report.captures, one.standing.tone) == ({"zpool_status": 1.5}, {"zpool_status": "ab"}, "bad")
        assert getattr(two, "standing", None) is None
    with django_assert_num_queries(1):
        assert one.version == "", "asked for when it is wanted"
    assert [one, two] == list(Node.objects.order_by("name"))


def test_saving_writes_the_named_fields_and_nothing_else(django_assert_num_queries):
    node = Node.objects.create(name="oss01")
    node.asked, node.version = {"lsscsi": 2.0}, "9"
    with django_assert_num_queries(1):
        save(node, "asked")
    again = Node.objects.get()
    assert (again.asked, again.version) == ({"lsscsi": 2.0}, "")


def test_a_row_that_is_gone_is_not_saved_in_silence():
    node = Node.objects.create(name="oss01")
    Node.objects.all().delete()
    with pytest.raises(DatabaseError, match="its row is gone"):
        save(node, "version")


def a_report(name):
    return Report(node=Node.objects.create(name=name), captures={"zpool_status": "ab"}, changed_at=timezone.now())


def test_adding_writes_what_django_would_write(django_assert_num_queries):
    one, two = a_report("oss01"), a_report("oss02")
    two.changed_at = one.changed_at
    with django_assert_num_queries(1):
        add(one)
    two.save(force_insert=True)
    added, saved = (Report.objects.filter(pk=report.pk).values().get() for report in (one, two))
    assert added | {"node_id": two.pk} == saved
    one.save()  # it knows that it is there
    assert Report.objects.count() == 2


def test_a_row_whose_key_is_taken_is_not_added():
    report = a_report("oss01")
    add(report)
    with pytest.raises(IntegrityError):
        add(report)


def test_several_are_asked_for_one_wait():
    now = timezone.now()
    ann = User.objects.create_user("ann")
    Node.objects.create(name="oss01")
    for _ in range(12):  # also when the server has them prepared
        found, of_ann, none = together((_names, ("oss01",)), (named_since, ("ann", now)), (named_since, ("nobody", now)))
        assert (found, of_ann, none) == ([("oss01",)], [(ann.pk, "ann")], [])


@WrittenOnce
def _names(name):
    return Node.objects.filter(name=name).values_list("name")


def test_what_goes_wrong_in_one_go_is_raised_though_nobody_reads_it():
    one, two = a_report("oss01"), a_report("oss02")
    add(one)
    with pytest.raises(IntegrityError), transaction.atomic():
        _add_in_one_go(two, one)
    assert Report.objects.count() == 1, "the connection is of use again, and all of it was taken back"
    with transaction.atomic(), in_one_go():
        add(two)
        assert _names("oss02") == [("oss02",)]
    assert Report.objects.count() == 2


def test_a_fault_of_ours_in_one_go_takes_back_what_was_sent():
    with pytest.raises(AttributeError), transaction.atomic():
        _add_in_one_go(a_report("oss01"), "no row")
    assert Report.objects.count() == 0


def _add_in_one_go(*rows):
    with in_one_go():
        for row in rows:
            add(row)


def test_values_come_as_django_gives_them_where_that_is_asked_for():
    Node.objects.create(name="oss01", asked={"zpool_status": 1.5})
    rows = ConvertedWrittenOnce(lambda *which: Node.objects.filter(**dict(zip(["name"], which, strict=True))).values_list("asked"), count=1)
    assert rows("oss01") == [({"zpool_status": 1.5},)]
    assert rows("oss02") == []
