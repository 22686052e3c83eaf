from django.urls import path

from app.runs import views

urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("runs/start/", views.start, name="run-start"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("runs/<int:pk>/act/", views.act, name="run-act"),
    path("approvals/", views.approvals, name="approvals"),
    path("broken-glass/<int:pk>/review/", views.review, name="glass-review"),
    path("nodes/<str:name>/look/", views.look, name="look"),
    path("looks/<str:pk>/", views.look_answer, name="look-answer"),
]
