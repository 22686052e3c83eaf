"""Settings, all from the environment. The launcher sets it; a container sets the same names."""

import importlib.util
import os
from pathlib import Path
from urllib.parse import urlsplit

from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured

from app.core import limits, oidc, proxies
from app.core.database import database

BASE_DIR = Path(__file__).resolve().parent.parent

# Two roles. The portal runs as the one in DATABASE_URL, which owns nothing; migrations run as the one in
# DATABASE_OWNER_URL (manage.py switches) and may take rights away from the first, as the ledger does.
DATABASE_URL = os.environ.get("DATABASE_URL", "postgresql:///slotlight")
DATABASE_APP_ROLE = urlsplit(DATABASE_URL).username or ""
AS_OWNER = os.environ.get("SLOTLIGHT_AS_OWNER") == "1"
STATEMENT_SECONDS_MAX = int(os.environ.get("SLOTLIGHT_STATEMENT_SECONDS", "30"))  # for any one statement, and for the wait for a lock
_database = database(os.environ.get("DATABASE_OWNER_URL", DATABASE_URL)) if AS_OWNER else database(DATABASE_URL, STATEMENT_SECONDS_MAX)
DATABASES = {"default": _database}
# The web process (app/asgi.py) lets each of its few threads keep its connection: a new one costs three times what a request does.
DATABASES["default"]["CONN_MAX_AGE"] = int(os.environ.get("SLOTLIGHT_KEEP_CONNECTIONS_SECONDS", "0"))
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
SECRET_KEY = os.environ.get("SECRET_KEY", "")
DEBUG = os.environ.get("SLOTLIGHT_DEBUG") == "1"
ALLOWED_HOSTS = os.environ.get("SLOTLIGHT_HOSTS", "127.0.0.1,localhost,[::1]").split(",")

INSTALLED_APPS = [
    "app.accounts",  # before Django's own, so that its `changepassword` is the one that records and announces
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "app.core.static.StaticConfig",
    "django_htmx",
    "template_partials",
    "lucide",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "allauth.usersessions",
    "app.ledger",
    "app.fleet",
    "app.nodes",
    "app.snapshots",
    "app.runs",
    "app.rehearsals",
    "app.notices",
    "app.guide",
    "app.postmortems",
    "app.api",
]
MIDDLEWARE = [
    "app.core.request_metrics.measured",
    "django.middleware.security.SecurityMiddleware",
    "app.core.csp.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "app.runs.pages.technician.KeptToTheStep",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "app.accounts.known.middleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "app.core.pages.signed_out_of_a_part",
    "app.core.errors.KeysLost",
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
REPAIRS_BESIDE = "app.runs.in_hand.under_way"  # which situations a run works on, for the fleet's page
OUTBOX = "app.notices.outbox.put"  # what a person may have to be notified of, from apps that do not know notices
NOTIFIED_OF = "app.notices.notified.of"  # who was notified of a happening, for the page of a run that waits for an approver
LIVE_BESIDE = "app.notices.stamps.beside"  # what pages show of runs and notices, for the stamps of apps that do not know them
ROOT_URLCONF = "app.urls"
ASGI_APPLICATION = "app.asgi.application"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "fleet"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"

# Here django-allauth remembers which codes of authenticator apps were used, and asks nothing else.
CACHES = {"default": {"BACKEND": "app.accounts.counts_once.CountsOnce"}}

SLOTLIGHT_LEDGER_KEY = os.environ.get("SLOTLIGHT_LEDGER_KEY", str(BASE_DIR / "var" / "ledger.key"))

# Every door counts the bytes of its requests before Django sees them (`app/core/limits.py`); this is the largest of those limits.
DATA_UPLOAD_MAX_MEMORY_SIZE = max(limits.BODIES.values())

# Signing in. Cookies are for HTTPS only as soon as SLOTLIGHT_HTTPS says that a proxy in front of us serves it.
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
HTTPS = os.environ.get("SLOTLIGHT_HTTPS") == "1"
# Proxies whose X-Forwarded-For and X-Forwarded-Proto are accepted, by address or network. No others are: any client can write them.
TRUSTED_PROXIES = proxies.networks(os.environ.get("SLOTLIGHT_TRUSTED_PROXIES", ""))
if HTTPS and not TRUSTED_PROXIES:
    raise ImproperlyConfigured(proxies.NAMELESS)
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("SLOTLIGHT_ORIGINS", "").split(",") if origin]
SESSION_ENGINE = "app.accounts.signed_in"
SESSION_COOKIE_AGE = 12 * 3600  # one long shift
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]  # asked from inside, behind the proxy
# Whether a whole domain is HTTPS only is not for one site on it to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

STATIC_URL = "static/"
STATIC_ROOT = os.environ.get("SLOTLIGHT_STATIC", str(BASE_DIR / "var" / "static"))
# Tabler comes from a Django package, of which we want the files and not the app.
_package = importlib.util.find_spec("jazzy_tabler")
if _package is None or _package.origin is None:
    raise ImproperlyConfigured("The Python package jazzy_tabler is not installed. Install what requirements.lock names.")
_tabler = Path(_package.origin).parent / "static" / "vendor" / "tabler"
STATICFILES_DIRS = [BASE_DIR / "static", ("vendor/tabler", _tabler)]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "app.core.static.Storage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# How people prove who they are: app/accounts. There is no signing up, nothing needs e-mail, and guessing is slowed down by app.accounts.throttle.
AUTHENTICATION_BACKENDS = ["app.accounts.signed_in.Backend"]
ACCOUNT_ADAPTER = "app.accounts.adapters.Accounts"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True  # for SESSION_COOKIE_AGE, like everybody
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
MFA_ADAPTER = "app.accounts.adapters.Factors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {"authenticate": "app.accounts.forms.Authenticate", "reauthenticate": "app.accounts.forms.Reauthenticate"}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Slotlight"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # a browser offers passkeys without HTTPS on localhost alone
SOCIALACCOUNT_ADAPTER = "app.accounts.sso.Elsewhere"
SOCIALACCOUNT_PROVIDERS = oidc.providers(os.environ)
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that leads to another origin is what form-action forbids
OIDC_ROLES = oidc.roles(os.environ.get("SLOTLIGHT_OIDC_ROLES", ""))
REQUIRE_SECOND_FACTOR = os.environ.get("SLOTLIGHT_REQUIRE_SECOND_FACTOR") == "1"  # of everybody who may more than look and use hands

# Tasks are idempotent doorbells: acknowledged when done, given to another worker when theirs dies.
CELERY_BROKER_URL = f"redis+socket://{urlsplit(REDIS_URL).path}?virtual_host=0" if REDIS_URL.startswith("unix:") else REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 300}  # no task may run this long; waiting is a state, not a task
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 240
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Where checkpoints of the ledger are sent, so that a ledger that was put back shows (`app/ledger/outside.py`), and every how many hours.
CHECKPOINTS_TO = tuple(os.environ.get("SLOTLIGHT_CHECKPOINTS_TO", "").split())
CHECKPOINTS_HOURS = int(os.environ.get("SLOTLIGHT_CHECKPOINTS_HOURS", "1"))
CELERY_BEAT_SCHEDULE = {
    "sign-the-ledger": {"task": "app.ledger.tasks.checkpoint", "schedule": 10.0, "options": {"expires": 10}},
    "send-checkpoints-out": {"task": "app.ledger.tasks.send_out", "schedule": crontab(minute=0, hour=f"*/{CHECKPOINTS_HOURS}")},
    "ring-due-runs": {"task": "app.runs.tasks.sweep", "schedule": 15.0, "options": {"expires": 15}},
    "answer-from-archives": {"task": "app.runs.tasks.answer_from_archives", "schedule": 5.0, "options": {"expires": 5}},
    "ring-runs-at-the-rack": {"task": "app.runs.tasks.ring_due", "schedule": 2.0, "options": {"expires": 2}},
    "record-what-moved": {"task": "app.fleet.tasks.record_moves", "schedule": 15.0, "options": {"expires": 15}},
    "settle-situations": {"task": "app.fleet.tasks.settle_situations", "schedule": 60.0, "options": {"expires": 60}},
    "tell-who-must-know": {"task": "app.notices.tasks.sweep", "schedule": 10.0, "options": {"expires": 10}},
    "notice-silent-nodes": {"task": "app.fleet.tasks.notice_silence", "schedule": 15.0, "options": {"expires": 15}},
}
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # the schedule is code; nothing about it is worth a file

# For which operations a person may go on without the approval that is missing ("zpool_replace,..."); for no other is that possible.
BREAK_GLASS = tuple(filter(None, os.environ.get("SLOTLIGHT_BREAK_GLASS", "").split(",")))
SLOTLIGHT_FACTS_BYTES_MAX = int(os.environ.get("SLOTLIGHT_FACTS_MIB", "384")) * 1024 * 1024  # parsed reports that a process remembers
API_PER_MINUTE = int(os.environ.get("SLOTLIGHT_API_PER_MINUTE", "300"))  # requests of one token
POOLS_IN_REPAIR_MAX = int(os.environ.get("SLOTLIGHT_POOLS_IN_REPAIR_MAX", "2"))  # in the whole fleet at once

# Where people reach the portal ("https://slotlight.example"): what links in notices begin with.
PORTAL_URL = os.environ.get("SLOTLIGHT_URL", "").rstrip("/")
# Whether notices may go to the portal's own machine, such as a mail server there. A channel is typed by a person, and what listens on
# loopback or a link-local address often trusts whoever reaches it.
LOCAL_CHANNELS = os.environ.get("SLOTLIGHT_LOCAL_CHANNELS") == "1"
LOOP_HOURS = int(os.environ.get("SLOTLIGHT_LOOP_HOURS", "4"))  # a notice reports what is switched on for longer

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "agents.service.log_lines.Line", "named": True}},
    "filters": {"tokens": {"()": "app.core.logs.WithoutTokens"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["tokens"]},
        "nowhere": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO"},
        "apprise": {
            "handlers": ["nowhere"],
            "level": "DEBUG",
            "propagate": False,
        },  # it names addresses and tokens; app/notices/sending.py reads it
        "urllib3": {"level": "WARNING"},  # below that it names whole addresses
        "uvicorn": {"handlers": [], "propagate": True},  # it has put its own there, without a time
        "uvicorn.access": {"handlers": ["nowhere"], "propagate": False},  # app/core/access_log.py logs what is worth a line
        "celery": {"level": "WARNING"},  # else every ring of every doorbell is two lines
        "celery.apps.worker": {"level": "INFO"},
        "fontTools": {"level": "WARNING"},  # else every PDF is a hundred lines
    },
}
