"""The windows of retention: what may be written, what stops the start, and how the mistake is named."""

import pytest

from horde.contract.retention import RetentionPolicy, whole_days, window_days
from horde.settings import ModerationSettings, RetentionSettings, SettingsError, load

TEXT = "HORDE_MODERATION_TEXT_RETENTION_DAYS"
ADDRESS = "HORDE_MODERATION_IPADDR_RETENTION_DAYS"
CEILING = "HORDE_MODERATION_EVIDENCE_CEILING_DAYS"
SUSPICION = "HORDE_WORKER_SUSPICION_RETENTION_DAYS"
ACCESS = "HORDE_MODERATION_ACCESS_LOG_RETENTION_DAYS"
THRESHOLD = "HORDE_MODEL_REJECTION_TIMEOUT_THRESHOLD"
EVERY = (TEXT, ADDRESS, CEILING, SUSPICION, ACCESS)

NO_NUMBERS = ["0", "-1", "+30", "030", "30.5", "1e2", "3_0", "\uff13\uff10", "thirty", "", "  ", "0x10", "1000000"]


def policy(**variables: str) -> RetentionPolicy:
    return load(RetentionSettings, variables).retention


def test_what_holds_when_nothing_is_said() -> None:
    assert policy() == RetentionPolicy(None, 30, 365, None, 365)


@pytest.mark.parametrize("variable", EVERY)
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_whole_number_of_days_stops_the_start_and_names_the_variable(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match="whole number of days") as stopped:
        policy(**{variable: text})
    assert variable in str(stopped.value)


@pytest.mark.parametrize("variable", [TEXT, ADDRESS])
@pytest.mark.parametrize("word", ["none", "None", "NONE", " none "])
def test_a_window_may_be_none(variable: str, word: str) -> None:
    read = policy(**{variable: word})
    assert (read.text_days if variable == TEXT else read.ipaddr_days) is None


@pytest.mark.parametrize("variable", [CEILING, SUSPICION, ACCESS])
def test_the_ceiling_the_history_and_the_log_cannot_be_switched_off(variable: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        policy(**{variable: "none"})


@pytest.mark.parametrize(
    ("variable", "most"), [(TEXT, 365), (ADDRESS, 365), (CEILING, 365), (SUSPICION, 36_500), (ACCESS, 36_500)]
)
def test_the_longest_window_is_taken_and_one_day_more_is_not(variable: str, most: int) -> None:
    policy(**{variable: str(most)})
    with pytest.raises(SettingsError, match=variable):
        policy(**{variable: str(most + 1)})


@pytest.mark.parametrize("variable", [TEXT, ADDRESS])
def test_a_window_may_be_as_long_as_the_ceiling_and_no_longer(variable: str) -> None:
    short = {CEILING: "10", ADDRESS: "10"}
    policy(**{**short, variable: "10"})
    with pytest.raises(SettingsError, match=f"{variable}.*{CEILING}"):
        policy(**{**short, variable: "11"})


def test_the_default_address_window_counts_too_below_a_short_ceiling() -> None:
    with pytest.raises(SettingsError, match=ADDRESS):
        policy(**{CEILING: "29"})


@pytest.mark.parametrize("text", [*NO_NUMBERS[:-1], "5.0", "none", "1000000000"])
def test_the_threshold_of_model_rejections_is_a_positive_whole_number_or_stops_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match=f"{THRESHOLD}.*positive whole number"):
        load(ModerationSettings, {THRESHOLD: text})


def test_the_threshold_of_model_rejections_is_five_unless_it_is_said() -> None:
    assert load(ModerationSettings, {}).model_rejection_timeout_threshold == 5
    assert load(ModerationSettings, {THRESHOLD: " 1 "}).model_rejection_timeout_threshold == 1


def test_surrounding_space_is_no_mistake() -> None:
    assert (window_days(" 7 "), whole_days("7\n", most=9)) == (7, 7)


def test_settings_made_in_code_take_numbers() -> None:
    assert RetentionSettings(moderation_text_retention_days=1, worker_suspicion_retention_days=2).retention == (
        RetentionPolicy(text_days=1, worker_suspicion_days=2)
    )
