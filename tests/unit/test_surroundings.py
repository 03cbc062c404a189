"""Settings and keys together: `.env` is read before whatever asks which keys there are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.config import config_folder
from core.errors import UsageError
from core.surroundings import surroundings

GEMINI = '[models.g]\nprovider = "gemini"\nmodel = "gemini-2.5-flash"\n'


@pytest.fixture(autouse=True)
def _empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "LAB_KEY", "JAGSTORM_CONFIG"):
        os.environ.pop(name, None)
    monkeypatch.chdir(tmp_path)


def written(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_the_key_that_is_there_is_chosen_even_if_only_the_env_file_has_it() -> None:
    written(".env", "GOOGLE_API_KEY=google-planted-0123456789\n")
    here = surroundings(written("mine.toml", GEMINI))
    assert here.settings.models["g"].api_key_env == "GOOGLE_API_KEY"
    assert os.environ["GOOGLE_API_KEY"] == "google-planted-0123456789"


def test_variables_that_the_settings_name_are_taken_too_and_it_is_said_from_where() -> None:
    written(".env", "LAB_KEY=lab-planted-0123456789\nGOOGLE_API_KEY=google-planted-0123456789\nHTTPS_PROXY=http://x\n")
    here = surroundings(written("mine.toml", GEMINI + 'api_key_env = "LAB_KEY"\n'))
    assert os.environ["LAB_KEY"] == "lab-planted-0123456789"
    assert here.env.taken == {"LAB_KEY": Path(".env"), "GOOGLE_API_KEY": Path(".env")}
    assert set(here.env.left) == {"HTTPS_PROXY"}


def test_the_usual_keys_are_there_even_if_the_settings_can_not_be_read() -> None:
    written(".env", "GOOGLE_API_KEY=google-planted-0123456789\n")
    with pytest.raises(UsageError, match=r"mine\.toml"):
        surroundings(written("mine.toml", "[models"))
    assert "GOOGLE_API_KEY" in os.environ


def test_where_there_is_nothing_nothing_is_loaded_for_it() -> None:
    code = (
        "import sys, core.surroundings as s; s.surroundings(); print({'dotenv', 'tomlkit', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert not config_folder().exists()
