"""How a setting becomes a value: one variable, one typed field, one message for all that is wrong.

`load` is the only door through which the environment enters; a settings object built by hand (in a test)
holds exactly what was written there and never a stray variable of the machine.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, override

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from horde.failures import StartError

_REQUIRED: Any = ...

_WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class SettingsError(StartError):
    """One or more variables cannot be used. The message has one line for each of them."""


class Settings(BaseSettings):
    """A frozen set of settings. Services inherit from the fragments they need and add their own fields."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only arguments count. pydantic's own source would also read `REDIS_URL` for the field `redis_url`."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)


def env(
    name: str,
    description: str,
    default: Any = _REQUIRED,
    *,
    secret: bool = False,
    also: str | None = None,
    refuses_empty: bool = False,
    **bounds: Any,
) -> Any:
    """One setting: its variable, its sentence, its default and the bounds pydantic checks (`ge=`, `le=`, …).

    Without a default (or a `default_factory=` of the fields before it) the variable is required. A secret is hidden in
    errors and in `repr`. `also` is a second variable, read when the first is not set. An empty variable counts as
    unset, except where it `refuses_empty`: there a blanked line is a mistake worth stopping for.
    """
    if "default_factory" not in bounds:
        bounds["default"] = default
    return Field(
        alias=name,
        validation_alias=AliasChoices(name, also) if also else name,
        description=description,
        repr=not secret,
        validate_default=False,
        json_schema_extra={"secret": secret, "refuses_empty": refuses_empty} if secret or refuses_empty else None,
        **bounds,
    )


def env_names(field: FieldInfo) -> tuple[str, ...]:
    """The variables a field is read from, the preferred one first."""
    match field.validation_alias:
        case AliasChoices(choices=choices):
            return tuple(choice for choice in choices if isinstance(choice, str))
        case str(name):
            return (name,)
        case AliasPath() | None:
            return ()


def is_secret(field: FieldInfo) -> bool:
    """Whether the value of this field must never be shown."""
    return _is_marked(field, "secret")


def _is_marked(field: FieldInfo, word: str) -> bool:
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get(word))


def load[T: Settings](cls: type[T], environ: Mapping[str, str] = os.environ) -> T:
    """The settings of this process. An empty variable counts as unset, unless its field refuses that.

    Raises SettingsError naming every bad variable, its value (secrets hidden) and what is wanted.
    """
    given: dict[str, str] = {}
    for field_name, field in cls.model_fields.items():
        for variable in env_names(field):
            if environ.get(variable, "") != "" or (variable in environ and _is_marked(field, "refuses_empty")):
                given[field_name] = environ[variable]
                break
    try:
        return cls.model_validate(given)
    except ValidationError as wrong:
        raise SettingsError(_sentence(cls, given, wrong)) from None


def _sentence(cls: type[Settings], given: Mapping[str, str], wrong: ValidationError) -> str:
    lines = [
        _complaint(cls, given, str(error["loc"][0]) if error["loc"] else "", error["msg"])
        for error in wrong.errors()
        # A default that could not be made of another field, which has its own line.
        if error["type"] != "default_factory_not_called"
    ]
    return "settings cannot be used:\n" + "\n".join(f"  {line}" for line in dict.fromkeys(lines))


def _complaint(cls: type[Settings], given: Mapping[str, str], where: str, message: str) -> str:
    for field_name, field in cls.model_fields.items():
        names = env_names(field)
        if where != field_name and where not in names:
            continue
        wanted = f"{message[:1].lower()}{message[1:]}; wanted: {field.description}"
        if field_name not in given:
            return f"{' or '.join(names)} is not set; wanted: {field.description}"
        return f"{names[0]}={'(hidden)' if is_secret(field) else repr(given[field_name])}: {wanted}"
    return message


def _split(value: object) -> object:
    """`a, b` or `["a", "b"]` as a tuple: plain lists for people, JSON for programs."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return tuple(json.loads(value))
        except ValueError as error:
            raise ValueError("not a comma list and not a JSON list") from error
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _whole(value: object) -> int:
    """A positive whole number as a person writes it: `int()` alone would also take `+5`, `05`, `5.0` and `1_0`."""
    text = str(value).strip()
    if _WHOLE.fullmatch(text) is None:
        raise ValueError("has to be a positive whole number")
    return int(text)


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""A list of words: `a, b` or a JSON list."""

Numbers = Annotated[tuple[int, ...], BeforeValidator(_split)]
"""A list of whole numbers: `1, 2` or a JSON list."""

Whole = Annotated[int, BeforeValidator(_whole)]
"""A positive whole number, in plain digits."""
