from horde.settings import env_names
from tools.docs import page, settings_classes


def test_every_setting_of_every_reader_is_on_the_page() -> None:
    text = page()
    for _, cls in settings_classes():
        for field in cls.model_fields.values():
            assert field.description, field
            assert f"| `{env_names(field)[0]}`" in text


def test_a_secret_is_marked() -> None:
    line = next(line for line in page().splitlines() if line.startswith("| `HORDE_REDIS_URL`"))
    assert "Secret." in line
