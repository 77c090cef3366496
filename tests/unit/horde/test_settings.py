"""Settings: what is wrong is said at once and in full, and nothing but `load` reads the environment."""

import pytest

from horde.settings import (
    AdmissionPolicySettings,
    GrpcSettings,
    LeaseSettings,
    ModerationSettings,
    PostgresSettings,
    S3Settings,
    SecretSettings,
    Settings,
    SettingsError,
    domain,
    env_names,
    load,
    runtime,
)


class Everything(PostgresSettings, SecretSettings, LeaseSettings, AdmissionPolicySettings, GrpcSettings):
    pass


GOOD = {"HORDE_DATABASE_URL": "postgresql://user:hush@db/horde", "secret_key": "pepper"}
FRAGMENTS = [
    found
    for module in (runtime, domain)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, Settings) and found is not Settings
]


def test_one_message_lists_every_bad_variable_and_hides_secrets() -> None:
    with pytest.raises(SettingsError) as caught:
        load(
            Everything,
            {
                "HORDE_DATABASE_URL": "mysql://user:hush@db/horde",
                "HORDE_TEXT_JOB_LEASE_SECONDS": "soon",
                "HORDE_DATABASE_POOL_SIZE": "0",
            },
        )
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert any("HORDE_TEXT_JOB_LEASE_SECONDS='soon'" in line and "Seconds a worker holds" in line for line in lines)
    assert any("HORDE_DATABASE_POOL_SIZE='0'" in line and "greater than or equal to 1" in line for line in lines)
    assert any("secret_key or HORDE_SECRET_KEY is not set" in line for line in lines)
    assert any("HORDE_DATABASE_URL=(hidden)" in line for line in lines)
    assert "hush" not in str(caught.value)


def test_a_secret_does_not_show_when_settings_are_printed() -> None:
    assert "hush" not in repr(load(Everything, GOOD))
    assert "pepper" not in repr(load(Everything, GOOD))


def test_an_empty_variable_counts_as_unset() -> None:
    assert load(Everything, {**GOOD, "HORDE_DATABASE_POOL_SIZE": ""}).database_pool_size == 8


def test_the_second_name_of_a_variable_is_read_when_the_first_is_unset() -> None:
    assert load(SecretSettings, {"HORDE_SECRET_KEY": "b"}).secret_key == "b"
    assert load(SecretSettings, {"secret_key": "a", "HORDE_SECRET_KEY": "b"}).secret_key == "a"


def test_a_variable_named_like_a_field_is_not_a_setting() -> None:
    assert load(Everything, {**GOOD, "DATABASE_POOL_SIZE": "3", "database_pool_size": "3"}).database_pool_size == 8


def test_settings_made_by_hand_read_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORDE_TEXT_JOB_LEASE_SECONDS", "7")
    assert LeaseSettings().text_job_lease_seconds == 150
    assert load(LeaseSettings).text_job_lease_seconds == 7


@pytest.mark.parametrize("written", ["a#1, b#2", '["a#1", "b#2"]', "a#1,b#2,"])
def test_a_list_is_written_with_commas_or_as_json(written: str) -> None:
    assert load(AdmissionPolicySettings, {"ADMINS": written}).admins == ("a#1", "b#2")


@pytest.mark.parametrize("written", ["[1,", "1, two", '["x"]'])
def test_a_bad_list_names_its_variable(written: str) -> None:
    with pytest.raises(SettingsError, match="HORDE_PROBLEM_JOB_ALERT_EXEMPT_USER_IDS"):
        load(ModerationSettings, {"HORDE_PROBLEM_JOB_ALERT_EXEMPT_USER_IDS": written})


def test_a_default_that_follows_another_field_is_no_complaint_of_its_own() -> None:
    with pytest.raises(SettingsError) as caught:
        load(S3Settings, {"HORDE_S3_ACCESS_KEY": "a", "HORDE_S3_SECRET_KEY": "b"})
    told = str(caught.value).splitlines()[1:]
    assert [line.split()[0] for line in told] == ["HORDE_S3_ENDPOINT"]


def test_messages_lie_beside_the_images_unless_they_have_a_bucket() -> None:
    given = {"HORDE_S3_ENDPOINT": "http://s3", "HORDE_S3_ACCESS_KEY": "a", "HORDE_S3_SECRET_KEY": "b"}
    assert load(S3Settings, {**given, "R2_SOURCE_IMAGE_BUCKET": "images"}).chat_messages_bucket == "images"
    assert load(S3Settings, {**given, "R2_CHAT_MESSAGES_BUCKET": "messages"}).chat_messages_bucket == "messages"


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda fragment: fragment.__name__)
def test_every_field_has_a_variable_and_a_sentence(fragment: type[Settings]) -> None:
    for name, field in fragment.model_fields.items():
        assert env_names(field), name
        assert field.description, name
        assert field.description.endswith("."), name


def test_no_two_fragments_disagree_about_a_variable() -> None:
    seen: dict[str, tuple[str, object]] = {}
    for fragment in FRAGMENTS:
        for name, field in fragment.model_fields.items():
            assert seen.setdefault(env_names(field)[0], (name, field.default)) == (name, field.default)
