"""`jagstorm judge check`: whether a model can be trusted as a judge, said so that a scientist understands it."""

import json
from pathlib import Path

import pytest

from core.errors import ModelUnavailableError, UsageError
from core.models import CallFailedError, ModelSpec, Prompt
from core.providers import catalog
from tests.command.conftest import Jagstorm
from tests.command.test_run import QUESTION, last
from tests.scripted import ScriptedProvider
from tests.unit.judging import faultless, see
from tui.judging import check_judges


class Models(ScriptedProvider):
    """`good` and `other` judge without fault, `coin` always says 50, `mute` nothing, and `down` is down."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.closed = 0

    @staticmethod
    def answer(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        match spec.model:
            case "coin":
                return "<score>50</score>"
            case "mute":
                return "It depends on \x1b[2J [/red] your view."
            case "down":
                raise CallFailedError("denied", "the server does not accept the key: check GOOD_KEY")
        return f"<score>{faultless(spec, see(prompt))}</score>"

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    models = Models()
    monkeypatch.setattr(catalog, "_make", lambda name: models)
    return models


class Checked:
    def __init__(self, capsys: pytest.CaptureFixture[str], sessions: Path) -> None:
        self._capsys = capsys
        self._sessions = sessions

    def __call__(self, *names: str, session: str | None = None, items: int = 60, as_json: bool = False) -> str:
        code = check_judges(
            names=[f"openai/{name}" for name in names],
            session=session,
            items=items,
            as_json=as_json,
            quiet=False,
            sessions=str(self._sessions),
        )
        assert code == 0
        out, err = self._capsys.readouterr()
        assert err == ""
        return out


@pytest.fixture
def checked(models: Models, capsys: pytest.CaptureFixture[str], sessions: Path) -> Checked:
    return Checked(capsys, sessions)


def test_a_good_judge_is_said_to_be_good(checked: Checked, models: Models) -> None:
    out = " ".join(checked("good").split())
    assert "coherence good: it tells sound answers from others" in out
    assert "passes 0 of 20 incoherent answers (0%) fails 0 of 10 sound ones (0%)" in out
    assert "similarity good: it tells a new idea from an old one in other words" in out
    assert "the same pair the other way round: 0.0 points apart" in out
    assert "60 items, 80 judgements" in out
    assert "8,000 tokens read" in out
    assert "Agreement" not in out
    assert models.closed == 1


def test_one_that_guesses_is_called_unusable(checked: Checked) -> None:
    out = " ".join(checked("coin").split())
    assert out.count("unusable: no better than guessing") == 2
    assert "passes 20 of 20 incoherent answers (100%)" in out


def test_one_that_gives_no_scores_is_called_unusable_and_quoted(checked: Checked) -> None:
    out = checked("mute", items=12)
    assert out.count("unusable: it seldom gives a score") == 2
    assert "48 of 48 replies (100%)" in out
    assert "16 of 16 judgements" in out
    assert "It depends on [2J [/red] your view." in " ".join(out.split())
    assert "\x1b" not in out


def test_two_judges_get_their_agreement(checked: Checked) -> None:
    out = checked("good", "other")
    assert out.count("good: it tells") == 4
    assert "Agreement: coherence 1.00, similarity 1.00" in out
    out = checked("good", "coin")
    assert "Agreement: coherence -0." in out


@pytest.mark.parametrize("names", [["good"], ["mute", "coin"], ["good", "a-model-with-a-name-" + "x" * 100]])
def test_no_line_is_wider_than_eighty_columns(checked: Checked, names: list[str]) -> None:
    assert max(len(line) for line in checked(*names, items=12).splitlines()) <= 80


def test_json_is_one_object_with_counts(checked: Checked) -> None:
    [line] = checked("good", "coin", as_json=True).splitlines()
    report = json.loads(line)
    assert report["items"] == 60
    good, coin = report["judges"]
    assert good["judge"].endswith("(openai:good)")
    assert (good["coherence"]["grade"], coin["coherence"]["grade"]) == ("good", "chance")
    assert coin["coherence"]["false_accepts"] == {"wrong": 20, "of": 20}
    assert (good["replies"], good["unreadable"], good["order_difference"]) == (80, 0, 0.0)
    assert isinstance(report["coherence_agreement"], float)


def test_a_check_of_the_same_judge_asks_the_same(checked: Checked, models: Models) -> None:
    asked = []
    for _ in range(2):
        models.calls.clear()
        checked("good", items=12)
        asked.append([see(prompt).texts for prompt in models.calls])
    assert sorted(asked[0]) == sorted(asked[1])


def test_a_session_s_ideas_are_among_the_items(
    checked: Checked, models: Models, jagstorm: Jagstorm, monkeypatch: pytest.MonkeyPatch, sessions: Path
) -> None:
    from tests.scripted import varied

    models.script = varied
    assert jagstorm("run", *QUESTION, "--max-ideas", "3").code == 0
    models.script = Models.answer
    models.calls.clear()
    out = checked("good", session=last(sessions).name, items=200)
    texts = [see(prompt).texts for prompt in models.calls]
    own = [asked for asked in texts if asked[0] == "Propose a way to weigh a smell."]
    assert len([asked for asked in own if len(asked) == 3 and asked[1] == asked[2]]) == 3, "each idea twice"
    assert len([asked for asked in own if len(asked) == 3 and asked[1] != asked[2]]) == 4, "two pairs, in both orders"
    assert len([asked for asked in own if len(asked) == 2]) == 15, "answers off the subject"
    assert "good: it tells" in out


def test_a_model_that_cannot_be_used_is_said_so_after_one_call(checked: Checked, models: Models) -> None:
    with pytest.raises(ModelUnavailableError, match="check GOOD_KEY") as failed:
        checked("down")
    assert failed.value.exit_code == 3
    assert len(models.calls) == 1
    assert models.closed == 1


def test_a_key_that_is_missing_is_said_before_any_call(checked: Checked, models: Models) -> None:
    async def prepare(spec: ModelSpec) -> None:
        raise ModelUnavailableError("set OPENAI_API_KEY")

    models.prepare = prepare  # type: ignore[method-assign]
    with pytest.raises(ModelUnavailableError, match="OPENAI_API_KEY"):
        checked("good")
    assert (models.calls, models.closed) == ([], 1)


def test_wrong_usage_says_what_is_wrong(checked: Checked) -> None:
    with pytest.raises(UsageError, match="named twice"):
        checked("good", "good")
    with pytest.raises(UsageError, match="No session"):
        checked("good", session="nothing-like-it")
    with pytest.raises(UsageError, match="no model"):
        check_judges(names=["nobody"], session=None, items=1, as_json=False, quiet=True, sessions=None)
