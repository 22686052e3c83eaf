from django.urls import path

from app.snapshots import views

urlpatterns = [
    path("snapshots/bring/", views.bring, name="snapshot-bring"),
    path("snapshots/slotlight-collect", views.script, name="snapshot-script"),
    path("snapshots/<str:name>/", views.snapshot, name="snapshot"),
    path("snapshots/<str:name>/retire/", views.retire, name="snapshot-retire"),
]
