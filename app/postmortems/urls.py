from django.urls import path

from app.postmortems import views

urlpatterns = [
    path("postmortems/", views.postmortems, name="postmortems"),
    path("postmortems/begin/", views.begin, name="postmortem-begin"),
    path("postmortems/<int:pk>/", views.postmortem, name="postmortem"),
    path("postmortems/<int:pk>/edit/", views.edit, name="postmortem-edit"),
    path("postmortems/<int:pk>/collect/", views.collect, name="postmortem-collect"),
    path("postmortems/<int:pk>/comment/", views.comment, name="postmortem-comment"),
    path("postmortems/<int:pk>/versions/<int:number>/", views.version, name="postmortem-version"),
    path("postmortems/<int:pk>/export/<slug:form>/", views.export, name="postmortem-export"),
]
