"""Settings, all from the environment. The launcher sets it; a container sets the same names."""

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

BASE_DIR = Path(__file__).resolve().parent.parent


def database(url: str) -> dict:
    """Django's DATABASES entry for `postgresql://user:password@host:port/name?option=value`.

    A Unix socket is written as `?host=/path`; it wins over the host part.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", parts.port or ""),
        "OPTIONS": options,
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
    }


# Two roles. The portal runs as the one in DATABASE_URL, which owns nothing; migrations run as the one in
# DATABASE_OWNER_URL (manage.py switches) and may take rights away from the first, as the ledger does.
DATABASE_URL = os.environ.get("DATABASE_URL", "postgresql:///slotlight")
DATABASE_APP_ROLE = urlsplit(DATABASE_URL).username or ""
AS_OWNER = os.environ.get("SLOTLIGHT_AS_OWNER") == "1"
DATABASES = {"default": database(os.environ.get("DATABASE_OWNER_URL", DATABASE_URL) if AS_OWNER else DATABASE_URL)}
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
SECRET_KEY = os.environ.get("SECRET_KEY", "")
DEBUG = os.environ.get("SLOTLIGHT_DEBUG") == "1"
ALLOWED_HOSTS = os.environ.get("SLOTLIGHT_HOSTS", "127.0.0.1,localhost,[::1]").split(",")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "lucide",
    "app.accounts",
    "app.ledger",
    "app.fleet",
    "app.nodes",
    "app.runs",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ROOT_URLCONF = "app.urls"
ASGI_APPLICATION = "app.asgi.application"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "fleet"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
STATIC_URL = "static/"
STATIC_ROOT = os.environ.get("SLOTLIGHT_STATIC", str(BASE_DIR / "var" / "static"))
