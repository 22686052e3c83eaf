"""Every page and door, one include per app."""

from django.urls import include, path

from app.core.health import health
from app.core.job_progress import progress

urlpatterns = [
    path("agent/v1/", include("app.nodes.urls")),  # first: nothing is asked for as often
    path("healthz", health, name="health"),
    path("progress/<str:name>/", progress, name="progress"),
    path("", include("app.fleet.urls")),
    path("", include("app.runs.urls")),
    path("", include("app.snapshots.urls")),
    path("", include("app.rehearsals.urls")),
    path("", include("app.ledger.urls")),
    path("", include("app.search.urls")),
    path("", include("app.postmortems.urls")),
    path("", include("app.accounts.urls")),
    path("", include("app.nodes.page_urls")),
    path("", include("app.notices.urls")),
    path("", include("app.guide.urls")),
    path("", include("app.api.urls")),
]

handler403 = "app.core.errors.forbidden"
handler404 = "app.core.errors.not_found"
handler500 = "app.core.errors.failed"
