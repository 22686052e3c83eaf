"""Settings that nothing else would notice being wrong."""

import inspect
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db.models.signals import post_migrate

from app.celery import celery
from app.core.csp import POLICY
from launcher.schema import schema_files


def test_beat_rings_only_tasks_that_exist():
    celery.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(celery.tasks)


def test_every_answer_carries_the_policy(client, db):
    assert client.get("/healthz")["Content-Security-Policy"] == POLICY
    assert "unsafe" not in POLICY


def test_health_says_ok_when_the_database_answers(client, db):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_health_says_so_when_the_database_does_not_answer(client, db, monkeypatch):
    from django.db import OperationalError, connection

    def refuse():
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (503, b"The database does not answer.\n")


def test_what_runs_after_a_migration_counts_as_part_of_the_schema():
    """Else a start would skip migrating although the rights or grants it would give have changed."""
    receivers = [entry[1] for entry in post_migrate.receivers]
    called = [receiver() if isinstance(receiver, weakref.ref) else receiver for receiver in receivers]
    files = {Path(inspect.getsourcefile(inspect.unwrap(function))) for function in called}
    assert {file for file in files if settings.BASE_DIR / "app" in file.parents} <= set(schema_files(settings.BASE_DIR))


@pytest.mark.parametrize("name", ["vendor/tabler/css/tabler.min.css", "django_htmx/htmx-2.min.js", "django_htmx/ext/hx-sse-2.min.js"])
def test_the_style_sheet_and_htmx_come_from_the_installed_packages(name):
    assert finders.find(name)


def test_static_files_are_collected_under_digested_names(ground, tmp_path):
    """With the portal's own settings: the manifest is whole although Tabler names source maps it does not ship."""
    environment = ground.environment() | {"SLOTLIGHT_STATIC": str(tmp_path), "PATH": ""}
    subprocess.run([sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"], env=environment, check=True, cwd=settings.BASE_DIR)
    names = {path.name for path in tmp_path.rglob("*")}
    assert any(name.startswith("tabler.min.") and name.endswith(".css.br") for name in names)
    assert "htmx-2.js" not in names
    assert not any("-4." in name or ".rtl." in name for name in names)


def test_the_site_is_ready_for_https(ground):
    """Django's own deployment check has nothing to say once a proxy speaks HTTPS."""
    environment = ground.environment() | {
        "SLOTLIGHT_HTTPS": "1",
        "SLOTLIGHT_TRUSTED_PROXIES": "127.0.0.1",
        "SECRET_KEY": "k" * 30 + "0123456789abcdefghijklmnopqrstuvwxyz",
        "PATH": "",
    }
    setting = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level=WARNING"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=settings.BASE_DIR,
    )
    assert setting.returncode == 0, setting.stderr


def test_https_without_a_proxy_to_believe_is_refused_at_the_start(ground):
    """Every page would redirect to itself, and nothing would say why."""
    environment = ground.environment() | {"SLOTLIGHT_HTTPS": "1", "PATH": ""}
    argv = [sys.executable, "manage.py", "check"]
    setting = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, cwd=settings.BASE_DIR)
    assert setting.returncode
    assert "SLOTLIGHT_TRUSTED_PROXIES names none" in setting.stderr
