from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from hits.people.access import for_admins, for_anyone
from hits.views.login import Login, LoginCode, PasswordChange, PasswordReset

from . import api
from .api_reference import api_reference
from .help import views as manual
from .operation import views as operation

# 503 while the database is away.
handler500 = "da_platform.unavailable.error_page"

urlpatterns = [
    path("", include("hits.urls")),
    path("", include("analysis.urls")),
    path("healthz", for_anyone(operation.healthz), name="healthz"),
    path("readyz", for_anyone(operation.readyz), name="readyz"),
    path("metrics", for_anyone(operation.metrics), name="metrics"),
    path("health/", for_admins(operation.health), name="health"),
    path(
        "login/",
        Login.as_view(
            redirect_authenticated_user=True,
            extra_context={"can_send_mail": settings.CAN_SEND_MAIL},
        ),
        name="login",
    ),
    path("login/code/", for_anyone(LoginCode.as_view()), name="login_code"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", PasswordChange.as_view(), name="password_change"),
    path("password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("password/reset/", PasswordReset.as_view(), name="password_reset"),
    path(
        "password/reset/sent/",
        auth.PasswordResetDoneView.as_view(extra_context={"days": settings.PASSWORD_RESET_DAYS}),
        name="password_reset_done",
    ),
    path(
        "password/set/<uidb64>/<token>/",
        auth.PasswordResetConfirmView.as_view(
            extra_context={"can_send_mail": settings.CAN_SEND_MAIL}
        ),
        name="password_reset_confirm",
    ),
    path(
        "password/set/done/",
        auth.PasswordResetCompleteView.as_view(),
        name="password_reset_complete",
    ),
    path("help/", for_anyone(manual.page), name="help"),
    path("help/search/", for_anyone(manual.search), name="help_search"),
    path("help/images/<str:name>", for_anyone(manual.picture), name="help_picture"),
    path("help/<path:name>/", for_anyone(manual.page), name="help_page"),
    path("api/", api_reference, name="api_reference"),
    path("api/v1/", api.urls),
    # Before the admin's own login, which has no limits. A user without access can log in as another.
    path("admin/login/", for_anyone(Login.as_view()), name="admin_login"),
    path("admin/", admin.site.urls),
]
