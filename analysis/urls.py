from django.urls import path

from . import views

urlpatterns = [
    path("jobs/", views.jobs, name="jobs"),
    path("jobs/<uuid:code>/", views.job, name="job"),
    path("jobs/<uuid:code>/progress/", views.job_progress, name="job_progress"),
    path("jobs/<uuid:code>/cancel/", views.cancel, name="cancel_job"),
    path("jobs/<uuid:code>/retry/", views.retry, name="retry_job"),
]
