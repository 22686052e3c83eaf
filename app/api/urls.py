from django.urls import path

from app import readiness
from app.api import metrics, pages
from app.api.door import api, nothing

urlpatterns = [
    path("readyz", readiness.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
    path("account/tokens/", pages.listed, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", pages.revoke, name="token-revoke"),
    path("people/of/<str:name>/tokens/", pages.revoke_of, name="person-tokens"),
    path("api/v1/", api.urls),
    path("api/<path:rest>", nothing, name="api-nothing"),
]
