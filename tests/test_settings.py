import re
from pathlib import Path

import pytest

from assistant.errors import SettingsError
from assistant.settings import Settings, load_settings, setting_names

ROOT = Path(__file__).parents[1]


def test_the_example_file_and_the_settings_name_the_same_variables() -> None:
    text = (ROOT / ".env.example").read_text("utf-8")
    assert re.findall(r"^(\w+)=", text, re.MULTILINE) == setting_names()


def test_the_values_in_the_example_file_are_the_defaults() -> None:
    text = (ROOT / ".env.example").read_text("utf-8")
    given = {name: value for name, value in re.findall(r"^(\w+)=(.+)$", text, re.MULTILINE)}
    defaults = {
        name: str(field.default) for name, field in zip(setting_names(), Settings.model_fields.values(), strict=True)
    }
    for name, value in given.items():
        assert defaults[name] in (value, f"{value}.0"), name


def test_keywords_win_over_the_environment_and_this_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "ASSISTANT_PORT=1001\nASSISTANT_MODEL=openai:a\nOPENAI_API_KEY=k\n", encoding="utf-8"
    )
    monkeypatch.setenv("ASSISTANT_PORT", "1002")
    settings = load_settings(model="openai:b")
    assert (settings.port, settings.model) == (1002, "openai:b")
    assert settings.openai_api_key is not None
    assert load_settings(port=1003).port == 1003


def test_an_empty_variable_is_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_MODEL", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert load_settings().model is None
    assert load_settings().openai_api_key is None


@pytest.mark.parametrize(
    ("name", "value"), [("ASSISTANT_PROT", "1"), ("ASSISTANT_PORT", "high"), ("ASSISTANT_TIMEOUT_SECONDS", "0")]
)
def test_an_unknown_setting_or_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert name.removeprefix("ASSISTANT_").lower() in caught.value.message.lower()
    assert "ASSISTANT_PORT" in caught.value.hint


def test_an_unknown_line_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ASSISTANT_MODLE=x\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="MODLE"):
        load_settings()


def test_a_file_that_also_serves_other_programs_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DATABASE_URL=x\nASSISTANT_PORT=1001\n", encoding="utf-8")
    assert load_settings().port == 1001


def test_a_wrong_keyword_is_refused() -> None:
    with pytest.raises(SettingsError, match="modle"):
        load_settings(modle="x")


def test_a_key_is_in_no_text_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    settings = load_settings()
    assert "canary" not in f"{settings!r} {settings} {settings.model_dump()}"
    monkeypatch.setenv("ASSISTANT_PORT", "sk-canary")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "canary" not in str(caught.value) + caught.value.hint
    assert caught.value.__cause__ is None
