from django.urls import path

from app.guide import views

urlpatterns = [
    path("docs/", views.guide, name="guide"),
    path("docs/<slug:slug>/", views.page, name="guide-page"),
]
