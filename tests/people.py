"""People by role: create them, and open pages as them."""

from django.contrib.auth.models import User
from django.test import Client

from hits.models import Campaign, Membership

# By increasing rights. `outsider` has a login and no role.
PEOPLE = ("stranger", "inactive", "outsider", "researcher", "admin", "superuser")


def make_person(role: str, campaign: Campaign | None = None) -> User:
    """Make a user; researchers and admins are members of one campaign or, by default, of all."""
    user = User.objects.create_user(
        f"{role}{User.objects.count()}",
        is_superuser=role == "superuser",
        is_staff=role == "superuser",
    )
    if role in Membership.Level.values:
        Membership.objects.create(user=user, level=role, campaign=campaign)
    return user


def browser_of(user: User) -> Client:
    """A browser in which this person is logged in."""
    client = Client()
    client.force_login(user)
    return client


def client_of(role: str, campaign: Campaign | None = None) -> Client:
    """A browser in which a new person with this role is logged in."""
    if role == "stranger":
        return Client()
    user = make_person("admin" if role == "inactive" else role, campaign)
    client = browser_of(user)
    if role == "inactive":
        User.objects.filter(pk=user.pk).update(is_active=False)
    return client
