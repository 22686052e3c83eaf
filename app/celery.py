"""The worker's side door. Messages carry ids and are doorbells only: a lost, late or repeated one does no harm."""

import os

from celery import Celery

from app.realtime import heartbeats  # noqa: F401  (it hears the signals of worker and beat)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "app.settings")

celery = Celery("slotlight")
celery.config_from_object("django.conf:settings", namespace="CELERY")
celery.autodiscover_tasks()
