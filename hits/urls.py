from django.urls import path

from . import views

urlpatterns = [
    path("", views.home, name="home"),
    path("campaigns/<uuid:code>/", views.campaign_overview, name="campaign_overview"),
    path("work/<uuid:code>/", views.landing, name="landing"),
    path("work/<uuid:code>/instructions/", views.instructions, name="instructions"),
    path("work/<uuid:code>/practice/<int:step>/", views.practice, name="practice"),
    path("work/<uuid:code>/check/", views.check, name="check"),
    path("work/<uuid:code>/next/", views.next_hit, name="next_hit"),
    path("hit/<uuid:code>/", views.rate, name="rate"),
    path("hit/<uuid:code>/finish/", views.finish, name="finish"),
    path("hit/<uuid:code>/done/", views.done, name="done"),
]
