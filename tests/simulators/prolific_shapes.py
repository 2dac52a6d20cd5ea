"""The requests and answers of Prolific's API, from https://docs.prolific.com/api-reference.

A shape maps keys to types or shapes. A key ending in ? is optional, a list holds the shape of its elements, and a
set lists the allowed values. Other keys are not allowed.
"""

from collections.abc import Iterator
from typing import Any

Shape = Any

# Requests ------------------------------------------------------------------------------------

COMPLETION_CODE = {
    "code": str,
    "code_type": {
        "COMPLETED",
        "FAILED_ATTENTION_CHECK",
        "FOLLOW_UP_STUDY",
        "GIVE_BONUS",
        "INCOMPATIBLE_DEVICE",
        "NO_CONSENT",
        "OTHER",
        "FIXED_SCREENOUT",
    },
    "actions": [
        {
            "action": {
                "AUTOMATICALLY_APPROVE",
                "ADD_TO_PARTICIPANT_GROUP",
                "REMOVE_FROM_PARTICIPANT_GROUP",
                "MANUALLY_REVIEW",
                "REQUEST_RETURN",
                "DYNAMIC_PAYMENT",
                "FIXED_SCREEN_OUT_PAYMENT",
            },
            "return_reason?": str,
        }
    ],
    "actor?": {"participant", "researcher"},
}
CREATE_STUDY = {
    "name": str,
    "internal_name?": str,
    "description": str,
    "external_study_url": str,
    "is_external_study_url_secure?": bool,
    "prolific_id_option": {"question", "url_parameters", "not_required"},
    "completion_codes": [COMPLETION_CODE],
    "total_available_places": int,
    "estimated_completion_time": int,
    "maximum_allowed_time?": int,
    "reward": int,
    "device_compatibility?": [{"desktop", "tablet", "mobile"}],
    "peripheral_requirements?": [{"audio", "camera", "download", "microphone"}],
    "filters?": [dict],
    "project?": str,
}
# For a published study.
UPDATE_STUDY = {"internal_name?": str, "total_available_places?": int}
TRANSITION_STUDY = {"action": {"PUBLISH", "PAUSE", "START", "STOP"}}
# The new status, by status and action. A stopped study cannot be restarted.
STUDY_TRANSITIONS = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "AWAITING REVIEW",
    ("PAUSED", "STOP"): "AWAITING REVIEW",
}
REJECTION_CATEGORY = {
    "BAD_CODE", "FAILED_CHECK", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "NO_DATA", "OTHER", "TOO_QUICKLY", "TOO_SLOWLY", "UNSUPP_DEVICE",
}  # fmt: skip
TRANSITION_SUBMISSION = {
    "action": {"APPROVE", "REJECT", "COMPLETE"},
    "message?": str,
    "rejection_category?": REJECTION_CATEGORY,
    "completion_code?": str,
}
SET_UP_BONUSES = {"study_id": str, "csv_bonuses": str}
PAY_BONUSES: dict[str, Any] = {}

# Answers and messages ------------------------------------------------------------------------

STATUS = {
    "RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "RETURNED", "REJECTED",
    "SCREENED OUT",
}  # fmt: skip
STUDY = {"id": str, "status": str, "total_available_places": int, "name": str}
SUBMISSION_IN_LIST = {
    "id": str,
    "participant_id": str,
    "status": STATUS,
    "started_at": str,
    "completed_at": (str, type(None)),
    "study_code": (str, type(None)),
}
SUBMISSION = {
    "id": str,
    "participant": str,
    "study_id": str,
    "status": STATUS,
    "started_at": str,
    "completed_at": (str, type(None)),
    "entered_code": (str, type(None)),
    "bonus_payments": [(int, float)],
}
BONUSES = {
    "id": str,
    "study": str,
    "amount": (int, float),
    "fees": (int, float),
    "vat": (int, float),
    "total_amount": (int, float),
}
STATUS_CHANGE = {
    "resource_id": str,
    "event_type": {"submission.status.change"},
    "participant_id": str,
    "status": STATUS,
}
MIN_REJECTION_LENGTH = 100


def complaints(value: Any, shape: Shape, place: str = "body") -> Iterator[str]:
    """Yield where a value does not match a shape."""
    if isinstance(shape, dict):
        yield from _of_object(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place} is not a list"
            return
        for number, element in enumerate(value):
            yield from complaints(element, shape[0], f"{place}[{number}]")
    elif isinstance(shape, set):
        if value not in shape:
            yield f"{place} is {value!r}, not one of {sorted(shape)}"
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is int):
        yield f"{place} is {value!r}, not {shape}"


def _of_object(value: Any, shape: dict[str, Shape], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place} is not an object"
        return
    keys = {
        key.removesuffix("?"): (key_shape, key.endswith("?")) for key, key_shape in shape.items()
    }
    yield from (f"{place} has an unknown key {key!r}" for key in value.keys() - keys.keys())
    for key, (key_shape, is_optional) in keys.items():
        if key in value:
            yield from complaints(value[key], key_shape, f"{place}.{key}")
        elif not is_optional:
            yield f"{place} lacks {key!r}"
