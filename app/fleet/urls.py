from django.urls import path

from app.fleet import triage, views

urlpatterns = [
    path("", views.fleet, name="fleet"),
    path("nodes/<str:name>/", views.node, name="node"),
    path("nodes/<str:name>/pools/<str:pool_name>/", views.pool, name="pool"),
    path("disks/<str:wwid>/", views.disk, name="disk"),
    path("triage/", triage.page, name="triage"),
    path("situations/<int:pk>/", views.situation, name="situation"),
]
