from django.urls import path

from app.rehearsals import views

urlpatterns = [
    path("situations/<int:pk>/rehearse/", views.rehearse, name="rehearse"),
    path("rehearsals/<int:pk>/", views.rehearsal, name="rehearsal"),
]
