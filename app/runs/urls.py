from django.urls import path

from app.runs import views
from app.runs.pages import technician

urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("runs/start/", views.start, name="run-start"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("runs/<int:pk>/now/", views.now, name="run-now"),
    path("now/", views.at_the_rack, name="at-the-rack"),
    path("runs/<int:pk>/act/", views.act, name="run-act"),
    path("t/", technician.step, name="technician-step"),
    path("t/<str:token>/", technician.opened, name="technician-open"),
    path("alarms/", views.alarms, name="alarms"),
    path("open-loops/", views.open_loops, name="open-loops"),
    path("open-loops/<int:pk>/close/", views.close_loop, name="loop-close"),
    path("runbooks/", views.runbooks, name="runbooks"),
    path("runbooks/<slug:slug>/", views.runbook, name="runbook"),
    path("approvals/", views.approvals, name="approvals"),
    path("broken-glass/<int:pk>/review/", views.review, name="glass-review"),
    path("nodes/<str:name>/look/", views.look, name="look"),
    path("nodes/<str:name>/looks/<int:since>/", views.looks, name="looks"),
    path("looks/<str:pk>/", views.look_answer, name="look-answer"),
]
