"""The table of statuses: total over the reasons, and equal to the reference's."""

import orjson
import pytest

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.gateway import render


def test_every_reason_has_a_status_and_every_status_a_reason() -> None:
    assert {reason.key for reason in render.STATUS} == set(reasons.ALL)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("RequestTooLarge", 413),
        ("UnknownChatModel", 404),
        ("NoEligibleWorker", 403),
        ("OperationKeyConflict", 400),
        ("ChatAdmissionDisabled", 503),
        ("ChatImageStorageUnavailable", 503),
        ("ChatDeclarationInvalid", 400),
        ("ChatSubmitInvalid", 400),
        ("ChatSubmitNonconformant", 400),
        ("ChatModelMismatch", 400),
        ("ChatJobAborted", 404),
        ("ChatProgressNotStreaming", 404),
        ("ChatProgressOutOfSequence", 409),
        ("ChatProgressCapReached", 413),
        ("ChatProgressUnavailable", 503),
        ("MaintenanceMode", 400),
        ("InvalidAPIKey", 401),
        ("TooManyPrompts", 429),
        ("RequestNotFound", 404),
        ("DuplicateGen", 400),
        ("AbortedGen", 400),
        ("InvalidJobID", 404),
        ("KudosUpfront", 403),
        ("WorkerMaintenance", 403),
    ],
)
def test_statuses_are_those_of_the_reference(word: str, status: int) -> None:
    assert render.status_of(reasons.ALL[word]) == status


def test_refusals_on_submit_are_400_403_or_404_only() -> None:
    on_submit = ("InvalidJobID", "WrongCredentials", "DuplicateGen", "AbortedGen", "ChatSubmitInvalid")
    also = ("ChatSubmitNonconformant", "ChatModelMismatch")
    assert {render.status_of(reasons.ALL[word]) for word in (*on_submit, *also)} <= {400, 403, 404}


def test_a_reason_of_a_newer_service_is_rendered_by_its_code() -> None:
    assert render.status_of(Reason("Tomorrow", "Tomorrow", "NOT_FOUND")) == 404
    assert render.status_of(Reason("Tomorrow", "Tomorrow", "SOMETHING")) == 400


def test_facts_stand_beside_message_and_rc() -> None:
    answer = render.refused(Refusal(reasons.VALIDATION_FAILED, "No.", {"errors": {"a": "b"}}))
    assert orjson.loads(answer.body) == {"message": "No.", "errors": {"a": "b"}, "rc": "BadRequest"}
