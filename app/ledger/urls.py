from django.urls import path

from app.ledger import views

urlpatterns = [
    path("ledger/", views.ledger, name="ledger"),
    path("ledger/<int:pk>/", views.event, name="ledger-event"),
    path("ledger/blobs/<str:digest>/", views.evidence, name="ledger-blob"),
    path("ledger/evidence/<str:digest>/", views.evidence_page, name="ledger-evidence"),
    path("ledger/runs/<str:run>/bundle.zip", views.run_bundle, name="run-bundle"),
]
