"""Settings for tests: the portal's own, pointed at the private servers that `tests/ground.py` starts when a test needs them."""

import os

from tests.ground import Ground

os.environ.update(Ground.place().environment() | {"DJANGO_SETTINGS_MODULE": "tests.settings"})

from app.settings import *
from app.settings import BASE_DIR

# Tests sign in thousands of times; the real hash takes a tenth of a second by design.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT = BASE_DIR / "static"  # a folder that is there; nothing is collected for tests
ALLOWED_HOSTS = ["*"]
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
