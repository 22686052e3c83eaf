from django.urls import path

from app.fleet import views
from app.fleet.pages import damage, enclosure, triage

urlpatterns = [
    path("", views.fleet, name="fleet"),
    path("nodes/<str:name>/", views.node, name="node"),
    path("nodes/<str:name>/pools/<str:pool_name>/", views.pool, name="pool"),
    path("nodes/<str:name>/pools/<str:pool_name>/damaged.<str:form>", damage.damaged, name="pool-damaged"),
    # An enclosure's id is whatever it says of itself, slashes too.
    path("nodes/<str:name>/enclosures/<path:enclosure_id>/sheet/", enclosure.slot_sheet, name="slot-sheet"),
    path("nodes/<str:name>/enclosures/<path:enclosure_id>/", enclosure.enclosure, name="enclosure"),
    path("disks/<str:wwid>/", views.disk, name="disk"),
    path("triage/", triage.page, name="triage"),
    path("situations/<int:pk>/", views.situation, name="situation"),
    path("situations/<int:pk>/review/", views.review, name="situation-review"),
]
