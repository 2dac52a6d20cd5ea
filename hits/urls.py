from django.urls import path

from . import views

urlpatterns = [
    path("", views.home, name="home"),
    path("work/<uuid:code>/", views.landing, name="landing"),
]
