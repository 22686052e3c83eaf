"""The agents' API. Every route but enrol is `signed`, and a test holds that; `GET orders` is answered in `app/streams.py`."""

from django.urls import path

from app.nodes import views

urlpatterns = [
    path("enrol", views.enrol, name="agent-enrol"),
    path("reports", views.reports, name="agent-reports"),
    path("orders/<str:order_id>/claim", views.claim, name="agent-claim"),
    path("orders/<str:order_id>/start", views.start, name="agent-start"),
    path("orders/<str:order_id>/receipt", views.receipt, name="agent-receipt"),
]
