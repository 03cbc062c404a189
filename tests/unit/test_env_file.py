"""`.env`: keys come from it, and nothing that could send them, or what a person writes, elsewhere."""

import os
from pathlib import Path

import pytest

from core.config import config_folder
from core.env_file import load_env_file

ADDRESSES = "OPENAI_BASE_URL=https://evil.example/v1\nANTHROPIC_BASE_URL=https://evil.example\n"


@pytest.fixture(autouse=True)
def _empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"HOME": os.environ["HOME"], "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]}
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    monkeypatch.chdir(tmp_path)


def here(text: str) -> None:
    Path(".env").write_text(text, encoding="utf-8")


def own(text: str) -> None:
    config_folder().mkdir(parents=True, exist_ok=True)
    (config_folder() / ".env").write_text(text, encoding="utf-8")


def test_keys_are_taken_from_both_files_and_a_persons_own_comes_first() -> None:
    here("OPENAI_API_KEY=sk-here\n# a comment\nexport MISTRAL_API_KEY='quoted'\n")
    own("OPENAI_API_KEY=sk-own\nANTHROPIC_API_KEY=sk-ant-own\n")
    files = load_env_file()
    assert os.environ["OPENAI_API_KEY"] == "sk-own"
    assert os.environ["ANTHROPIC_API_KEY"] == "sk-ant-own"
    assert os.environ["MISTRAL_API_KEY"] == "quoted"
    assert files.taken["MISTRAL_API_KEY"] == Path(".env")
    assert files.taken["ANTHROPIC_API_KEY"] == config_folder() / ".env"


def test_what_is_set_stays_even_if_it_is_empty() -> None:
    os.environ |= {"OPENAI_API_KEY": "sk-set", "GROQ_API_KEY": ""}
    here("OPENAI_API_KEY=sk-file\nGROQ_API_KEY=gsk-file\n")
    assert load_env_file().taken == {}
    assert (os.environ["OPENAI_API_KEY"], os.environ["GROQ_API_KEY"]) == ("sk-set", "")


def test_a_downloaded_folder_cannot_send_a_persons_key_elsewhere() -> None:
    os.environ |= {"OPENAI_API_KEY": "sk-mine", "ANTHROPIC_API_KEY": "sk-ant-mine", "AWS_ACCESS_KEY_ID": "AKIAMINE"}
    here(
        ADDRESSES + "OPENAI_API_KEY=sk-decoy\nHTTPS_PROXY=http://evil.example\nSSL_CERT_FILE=/tmp/evil.pem\nPATH=/tmp\n"
        "AWS_ENDPOINT_URL=https://evil.example\nAWS_SESSION_TOKEN=x\nAZURE_OPENAI_ENDPOINT=https://evil.example\n"
        "HF_ENDPOINT=https://evil.example\nLD_PRELOAD=/tmp/x.so\nJAGSTORM_CONFIG=/tmp/x\nOLLAMA_HOST=evil.example\n"
    )
    before = dict(os.environ)
    files = load_env_file()
    assert dict(os.environ) == before
    assert files.taken == {}
    assert {"HTTPS_PROXY", "OPENAI_BASE_URL", "OLLAMA_HOST"} <= files.left.keys()


def test_an_address_comes_with_its_own_key() -> None:
    here(ADDRESSES + "OPENAI_API_KEY=sk-theirs\nAZURE_OPENAI_ENDPOINT=https://x.example\nAZURE_OPENAI_API_KEY=abc\n")
    load_env_file()
    assert os.environ["OPENAI_BASE_URL"] == "https://evil.example/v1"
    assert os.environ["AZURE_OPENAI_ENDPOINT"] == "https://x.example"
    assert "ANTHROPIC_BASE_URL" not in os.environ


def test_a_token_for_azure_is_a_key_too() -> None:
    here("AZURE_OPENAI_AD_TOKEN=entra-token\nAZURE_OPENAI_ENDPOINT=https://x.example\n")
    load_env_file()
    assert os.environ["AZURE_OPENAI_AD_TOKEN"] == "entra-token"
    assert os.environ["AZURE_OPENAI_ENDPOINT"] == "https://x.example"


def test_a_decoy_of_one_kind_cannot_send_a_key_of_another_kind_elsewhere() -> None:
    os.environ["AZURE_OPENAI_API_KEY"] = "mine"
    here("AZURE_OPENAI_AD_TOKEN=decoy\nAZURE_OPENAI_ENDPOINT=https://evil.example\n")
    load_env_file()
    assert not {"AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT"} & os.environ.keys()


def test_neither_can_a_decoy_send_one_that_comes_from_the_persons_own_file() -> None:
    here("AZURE_OPENAI_AD_TOKEN=decoy\nAZURE_OPENAI_ENDPOINT=https://evil.example\n")
    own("AZURE_OPENAI_API_KEY=mine\n")
    load_env_file()
    assert os.environ["AZURE_OPENAI_API_KEY"] == "mine"
    assert not {"AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT"} & os.environ.keys()


def test_a_downloaded_folder_does_not_get_what_a_person_writes_who_has_a_key_of_their_own() -> None:
    here("OPENAI_API_KEY=sk-evil\nOPENAI_BASE_URL=https://evil.example/v1\n")
    own("OPENAI_API_KEY=sk-own\n")
    files = load_env_file()
    assert os.environ["OPENAI_API_KEY"] == "sk-own"
    assert "OPENAI_BASE_URL" not in os.environ
    assert files.warnings == []


def test_an_address_from_the_current_folder_is_never_taken_silently() -> None:
    here("OPENAI_API_KEY=sk-here\nOPENAI_BASE_URL=https://lab.example/v1\n")
    assert load_env_file().warnings == ["OPENAI_BASE_URL is taken from .env in this folder: https://lab.example/v1"]


def test_nobody_works_in_a_strangers_account_unawares() -> None:
    credentials = Path.home() / ".aws" / "credentials"
    credentials.parent.mkdir(parents=True)
    credentials.write_text("[default]\naws_access_key_id = AKIAMINE\naws_secret_access_key = mine\n", encoding="utf-8")
    here("AWS_ACCESS_KEY_ID=AKIAEVIL\nAWS_SECRET_ACCESS_KEY=evil\n")
    load_env_file()
    assert "AWS_ACCESS_KEY_ID" not in os.environ


def test_a_key_and_its_address_from_two_files_do_not_mix() -> None:
    here("OPENAI_BASE_URL=https://evil.example/v1\n")
    own("OPENAI_API_KEY=sk-own\n")
    load_env_file()
    assert os.environ["OPENAI_API_KEY"] == "sk-own"
    assert "OPENAI_BASE_URL" not in os.environ


@pytest.mark.parametrize(
    ("host", "taken"), [("gpu07:11434", True), ("http://127.0.0.1:11434", True), ("https://evil.example", False)]
)
def test_an_ollama_server_elsewhere_is_believed_only_from_ones_own_file(host: str, taken: bool) -> None:
    here(f"OLLAMA_HOST={host}\n")
    load_env_file()
    assert ("OLLAMA_HOST" in os.environ) is taken
    own("OLLAMA_HOST=https://ollama.lab.example\n")
    load_env_file()
    assert "OLLAMA_HOST" in os.environ


def test_aws_keys_come_as_one() -> None:
    here("AWS_ACCESS_KEY_ID=AKIA1\nAWS_SECRET_ACCESS_KEY=s\nAWS_REGION=eu-central-1\n")
    load_env_file()
    assert (os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]) == ("AKIA1", "s")
    assert os.environ["AWS_REGION"] == "eu-central-1"


def test_variables_that_the_config_file_names_are_keys_too() -> None:
    here("LAB_KEY=abc\nOTHER=abc\n")
    assert load_env_file(["LAB_KEY"]).taken == {"LAB_KEY": Path(".env")}


def test_nothing_in_a_value_is_replaced_or_run() -> None:
    os.environ["SECRET"] = "s3cret"
    here('OPENAI_API_KEY="a${SECRET}b$(id)"\n')
    load_env_file()
    assert os.environ["OPENAI_API_KEY"] == "a${SECRET}b$(id)"


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"OPENAI_API_KEY", b"OPENAI_API_KEY=", b"='x", b"A='open"])
def test_an_odd_file_does_no_harm(content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    Path(".env").write_bytes(content)
    assert load_env_file().taken == {}
    assert capfd.readouterr() == ("", ""), "it would be written into the screen"


def test_a_folder_called_env_is_none() -> None:
    Path(".env").mkdir()
    assert load_env_file().taken == {}
