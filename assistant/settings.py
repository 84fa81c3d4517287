"""All settings, from keywords, the environment or a `.env` file, in this order. Only `app.py` and the doors use it."""

import os
from pathlib import Path
from typing import Any, Literal

from dotenv import dotenv_values
from platformdirs import user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import SettingsError
from vectorstore.embedding import PACKAGED_EMBEDDING
from vectorstore.server import checked_url

BUILT_IN_COLLECTION = "icml2026"
_PREFIX = "ASSISTANT_"


class Settings(BaseSettings):
    """Each field is the variable `ASSISTANT_` and its name in capitals, if no other name is given."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        populate_by_name=True,
        env_ignore_empty=True,
    )

    model: str | None = None
    """The chat model, as "provider:model"; without one, answers are quotations."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("OPENAI_API_KEY"))
    """Key for "openai:..." models."""
    openai_base_url: str | None = Field(default=None, validation_alias=AliasChoices("OPENAI_BASE_URL"))
    """Address of an OpenAI-compatible server, such as http://localhost:11434/v1."""
    data_dir: Path = Field(default_factory=lambda: user_data_path("abstract-assistant", appauthor=False))
    """Where collections are kept."""
    collection: str = BUILT_IN_COLLECTION
    """The collection that questions are asked of; several with commas between."""
    embedding: str = PACKAGED_EMBEDDING
    """The embedding model, as "provider:model"; changing it needs `assistant index --rebuild`."""
    chroma_url: str | None = Field(default=None, validation_alias=AliasChoices("CHROMA_URL"))
    """Address of a Chroma server that several assistants share, such as http://127.0.0.1:8000."""
    chroma_token: SecretStr | None = Field(default=None, validation_alias=AliasChoices("CHROMA_TOKEN"))
    """Sent as a bearer token to the proxy before that server."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """How long the model may take for a whole answer."""
    verify: Literal["code", "model"] = "code"
    """Whether the model is asked as well, about each sentence of its own that the checks by code let pass."""
    context_tokens: int = Field(default=8192, ge=1024)
    """What the model reads and writes at most."""
    answer_tokens: int = Field(default=700, ge=64)
    """What the model writes at most."""
    port: int = Field(default=7860, ge=1, le=65535)
    """Port of the chat, and of the server."""
    auth_file: Path | None = None
    """The file of users of `assistant serve`, made by `assistant user`; without one, whoever reaches it may ask."""
    questions_per_minute: int = Field(default=30, ge=1)
    """How many questions `assistant serve` answers one visitor in a minute."""

    tracing: Literal["langsmith", "opentelemetry"] | None = None
    """Who is told of the steps of each answer; without it nobody, whatever other variables say."""

    @property
    def collections(self) -> list[str]:
        """The names in `collection`."""
        return list(dict.fromkeys(name.strip() for name in self.collection.split(",")))

    @field_validator("chroma_url")
    @classmethod
    def _without_password(cls, url: str | None) -> str | None:
        return checked_url(url) if url else None


def load_settings(**overrides: Any) -> Settings:
    """The settings, with `overrides` by field name. Raises `SettingsError` for an unknown name or a wrong value."""
    unknown = [name for name in overrides if name not in Settings.model_fields] + _unknown_variables()
    if unknown:
        raise SettingsError(f"There is no setting {unknown[0]}.", f"Known are: {', '.join(setting_names())}.")
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in problem["loc"]) or "settings"
        raise SettingsError(
            f"The setting {name} cannot be used: {problem['msg'].lower()}.", f"Known are: {', '.join(setting_names())}."
        ) from None  # the cause holds the values, keys among them


def _unknown_variables() -> list[str]:
    """Variables of the environment and of `.env` that look like settings and are none; others are not our business."""
    given = {*os.environ, *dotenv_values(".env", encoding="utf-8")}
    known = {name.lower() for name in setting_names()}
    return sorted(name for name in given if name.upper().startswith(_PREFIX) and name.lower() not in known)


def setting_names() -> list[str]:
    """The variable of each setting, in the order of the fields."""
    return [
        str(field.validation_alias.choices[0])
        if isinstance(field.validation_alias, AliasChoices)
        else f"{_PREFIX}{name.upper()}"
        for name, field in Settings.model_fields.items()
    ]
