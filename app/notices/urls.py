from django.urls import path

from app.notices import views

urlpatterns = [
    path("notices/", views.notices, name="notices"),
    path("notices/channels/add/", views.add, name="channel-add"),
    path("notices/channels/<int:pk>/", views.channel, name="channel"),
    path("notices/channels/<int:pk>/change/", views.change, name="channel-change"),
    path("notices/channels/<int:pk>/test/", views.test, name="channel-test"),
    path("notices/channels/<int:pk>/remove/", views.remove, name="channel-remove"),
    path("notices/<int:pk>/again/", views.again, name="notice-again"),
    path("notices/hooks/add/", views.add_hook, name="hook-add"),
    path("notices/hooks/<int:pk>/revoke/", views.revoke_hook, name="hook-revoke"),
    path("hooks/alertmanager/<str:token>", views.from_alertmanager, name="alertmanager"),
]
