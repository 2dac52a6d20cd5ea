"""The page that plans a campaign before it is paid for."""

from dataclasses import asdict
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.models import Campaign
from hits.people.access import Visitor, campaigns_of, for_members

from ..gold.components import ComponentsRefused, stored_components
from ..gold.plan_pictures import PICTURES
from ..gold.plans import USUAL, USUAL_COMPONENTS, Plan, Wishes, make_plan
from ..stats.variance_components import VarianceComponents

COMPONENTS = {
    "segment": "Segments",
    "translation": "Systems on single segments",
    "worker": "Workers",
    "taste": "Workers’ tastes for systems",
    "residual": "The rest",
}


# Least, most and step of the sliders; the fields take more.
SLIDES = {
    "systems": (2, 30, 1),
    "difference": (0.01, 0.5, 0.005),
    "power": (50, 99, 1),
    "reliability": (0.3, 0.99, 0.01),
    "pay": (0, 20, 0.1),
    "fee": (0, 60, 1),
    "passing": (5, 100, 1),
}


class PlanForm(forms.Form):
    """What a campaign should find out; every field has a usual value."""

    systems = forms.IntegerField(min_value=2, max_value=100, label="Systems")
    difference = forms.FloatField(
        min_value=0.005, max_value=5, label="Difference to find, in z", step_size=0.005
    )
    power = forms.IntegerField(min_value=5, max_value=99, label="Power, %")
    reliability = forms.FloatField(
        min_value=0.05, max_value=0.99, label="Reliability of gold (r)", step_size=0.01
    )
    segments = forms.IntegerField(
        min_value=2, max_value=100_000, required=False, label="Segments you have"
    )
    genuine = forms.IntegerField(min_value=1, max_value=500, label="Genuine items of a HIT")
    hits = forms.FloatField(min_value=1, max_value=1_000, label="HITs per worker", step_size=0.5)
    pay = forms.DecimalField(
        min_value=0, max_value=100, max_digits=8, decimal_places=2, label="Pay per HIT"
    )
    fee = forms.DecimalField(
        min_value=0, max_value=100, max_digits=5, decimal_places=2, label="Provider fee, %"
    )
    passing = forms.IntegerField(min_value=5, max_value=100, label="Assignments that pass, %")
    like = forms.ModelChoiceField(
        Campaign.objects.none(),
        to_field_name="code",
        required=False,
        label="Ratings vary as in",
        empty_label="The variances below",
    )
    segment = forms.FloatField(min_value=0, max_value=100, label=COMPONENTS["segment"])
    translation = forms.FloatField(min_value=0, max_value=100, label=COMPONENTS["translation"])
    worker = forms.FloatField(min_value=0, max_value=100, label=COMPONENTS["worker"])
    taste = forms.FloatField(min_value=0, max_value=100, label=COMPONENTS["taste"])
    residual = forms.FloatField(min_value=0, max_value=100, label=COMPONENTS["residual"])

    def __init__(self, user: Visitor, data: dict[str, Any]) -> None:
        # What is not in the address has its usual value.
        usual: dict[str, Any] = {
            "systems": 5,
            "difference": 0.1,
            "power": 80,
            "reliability": 0.8,
            "genuine": 70,
        }
        usual |= {"hits": 2, "pay": USUAL.pay, "fee": USUAL.fee_percent, "passing": 50}
        super().__init__(usual | asdict(USUAL_COMPONENTS) | data)
        like = self.fields["like"]
        assert isinstance(like, forms.ModelChoiceField)
        like.queryset = campaigns_of(user).order_by("name")

    def plan(self) -> Plan:
        """Return the plan. Raises `ComponentsRefused` if the earlier campaign was not measured."""
        values = self.cleaned_data
        like = values["like"]
        given = VarianceComponents(**{name: values[name] for name in COMPONENTS})
        return make_plan(_wishes(values), stored_components(like) if like else given)


def _wishes(values: dict[str, Any]) -> Wishes:
    return Wishes(
        n_systems=values["systems"],
        difference=values["difference"],
        power=values["power"] / 100,
        reliability=values["reliability"],
        most_segments=values["segments"],
        genuine_per_hit=values["genuine"],
        hits_per_worker=values["hits"],
        pay=values["pay"],
        fee_percent=values["fee"],
        pass_percent=values["passing"],
    )


@require_GET
@for_members
def plan_campaign(request: HttpRequest) -> HttpResponse:
    """Show how many segments, ratings and workers a wish takes, and what they cost."""
    form, plan, refusal = _form(request), None, ""
    if form.is_valid():
        try:
            plan = form.plan()
        except ComponentsRefused as error:
            refusal = str(error)
    context = {
        "form": form,
        "wished": _with_slides(form, "systems", "difference", "power", "reliability"),
        "means": _with_slides(form, "segments", "genuine", "hits", "pay", "fee", "passing"),
        "is_refused": bool(form.errors),
        "like": form.cleaned_data.get("like") if form.is_valid() else None,
        "variances": [form[name] for name in COMPONENTS],
        "plan": plan,
        "refusal": refusal,
        "pictures": [make(plan) for make in PICTURES.values()] if plan else [],
        "formats": list(CONTENT_TYPES),
        "components": _shares(plan) if plan else [],
    }
    return render(request, "analysis/plan.html", context)


@require_GET
@for_members
def plan_picture(request: HttpRequest, name: str, fmt: str) -> HttpResponse:
    """Return a figure of a plan, or its data."""
    form = _form(request)
    if name not in PICTURES or not form.is_valid():
        raise Http404("Figure not found.")
    try:
        return picture_file(PICTURES[name](form.plan()), fmt, use=request.GET.get("for", ""))
    except ComponentsRefused as error:
        raise Http404(str(error)) from None


def _with_slides(form: PlanForm, *names: str) -> list[tuple[Any, Any]]:
    return [(form[name], SLIDES.get(name)) for name in names]


def _form(request: HttpRequest) -> PlanForm:
    # An empty field means its usual value, too.
    return PlanForm(request.user, {name: text for name, text in request.GET.items() if text})


def _shares(plan: Plan) -> list[dict[str, Any]]:
    """Return each variance with its name, for the table."""
    values = asdict(plan.components)
    total = plan.components.total or 1
    return [
        {"label": label, "variance": values[name], "percent": 100 * values[name] / total}
        for name, label in COMPONENTS.items()
    ]
