"""Items whose right score is known, and what a check of a judge makes of its scores."""

import asyncio
from collections import Counter
from statistics import mean

import pytest
from numpy.random import default_rng

from core import events as ev
from core.chain import Chain
from core.errors import ModelUnavailableError
from core.models import CallFailedError, ModelSpec
from core.questions import LEAVES
from core.scoring.check import CheckReport, JudgeReport, Rate, check, session_controls
from core.scoring.controls import Control, control_questions, controls, draw, fails, is_right, pair, some
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.judge import Judge
from core.state import State, apply
from core.text import clean
from tests.unit.judging import DOWN, ScriptedJudge, Seen, faultless

SIX = {"right", "wrong", "off-topic", "duplicate", "paraphrase", "distinct"}


# ── the items ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_there_are_questions_of_many_fields_with_three_ideas_each() -> None:
    questions = control_questions()
    leaves = {f"{one.domain} / {one.subdomain}" if one.subdomain else one.domain for one in questions}
    assert leaves == set(LEAVES)
    assert len({question.id for question in questions}) == len(questions) >= 8
    assert {(len(question.ideas), len(question.wrong)) for question in questions} == {(3, 2)}


def test_every_text_stands_there_once_and_is_clean() -> None:
    texts = [question.text for question in control_questions()]
    texts += [wrong for question in control_questions() for wrong in question.wrong]
    texts += [
        text for question in control_questions() for idea in question.ideas for text in (idea.text, idea.reworded)
    ]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if clean(text) != text or "  " in text or "\n" in text] == []


def test_every_kind_is_there_and_says_what_is_expected() -> None:
    count = Counter(control.kind for control in controls())
    assert count == {"right": 30, "wrong": 20, "off-topic": 30, "duplicate": 30, "paraphrase": 30, "distinct": 30}
    failing = {control.kind for control in controls() if control.fails}
    assert failing == {"wrong", "off-topic", "duplicate", "paraphrase"}
    assert {control.kind for control in controls() if control.earlier is None} == {"right", "wrong", "off-topic"}
    assert all((control.earlier == control.answer) == (control.kind == "duplicate") for control in controls())


def test_answers_off_the_subject_belong_to_another_question() -> None:
    own = {(question.text, idea.text) for question in control_questions() for idea in question.ideas}
    for control in controls():
        assert ((control.question, control.answer) in own) == (control.kind not in ("wrong", "off-topic", "paraphrase"))


async def test_even_word_vectors_see_paraphrases_nearer_than_different_ideas(embedder: WordLlamaEmbedder) -> None:
    async def likeness(control: Control) -> float:
        assert control.earlier
        one, two = [embedding.vector for embedding in await embedder.embed([control.earlier, control.answer])]
        assert one is not None
        assert two is not None
        return float(one @ two)

    for question in control_questions():
        of_kind = {
            kind: [await likeness(one) for one in controls() if (one.kind, one.question) == (kind, question.text)]
            for kind in ("paraphrase", "distinct")
        }
        assert mean(of_kind["paraphrase"]) > mean(of_kind["distinct"]) + 0.1, question.id


@pytest.mark.parametrize(("score", "failing"), [(0, True), (15, True), (16, False), (100, False)])
def test_coherence_fails_as_it_does_in_a_session(score: int, failing: bool) -> None:
    right = Control(kind="right", question="q", answer="a")
    assert fails(right, score) == failing
    assert is_right(right, score) == (not failing)
    assert is_right(Control(kind="wrong", question="q", answer="a"), score) == failing


@pytest.mark.parametrize(("score", "failing"), [(0, False), (85, False), (86, True), (100, True)])
def test_likeness_fails_as_it_does_in_a_session(score: int, failing: bool) -> None:
    assert is_right(pair("paraphrase", "q", "a", "b"), score) == failing
    assert is_right(pair("distinct", "q", "a", "b"), score) == (not failing)
    assert is_right(pair("pair", "q", "a", "b"), score) is None, "nobody knows"


def test_one_is_drawn_of_any_kind_in_either_order_and_the_same_from_the_same_seed() -> None:
    drawn = [draw(default_rng(number)) for number in range(300)]
    assert drawn == [draw(default_rng(number)) for number in range(300)]
    count = Counter(control.kind for control in drawn)
    assert set(count) == SIX
    assert min(count.values()) > 25
    known = set(controls())
    turned = [control for control in drawn if control not in known]
    assert {control.kind for control in turned} == {"paraphrase", "distinct"}
    assert {control.turned() for control in turned} <= known


def test_some_are_dealt_evenly_over_the_kinds() -> None:
    chosen = some(controls(), 60, default_rng(1))
    assert set(Counter(control.kind for control in chosen).values()) == {10}
    assert len(set(chosen)) == 60
    assert set(some(controls(), 1000, default_rng(1))) == set(controls())
    assert [control.kind for control in some(controls(), 3, default_rng(1))] == ["right", "wrong", "off-topic"]


# ── a check ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def checked(*asks: ScriptedJudge, items: int = 60) -> CheckReport:
    specs = [ModelSpec(name=name, provider="scripted") for name in "abcdefg"]
    judges = [Judge(spec, ask) for spec, ask in zip(specs, asks, strict=False)]
    return await check(judges, some(controls(), items, default_rng(0)))


async def report_on(ask: ScriptedJudge, items: int = 60) -> JudgeReport:
    [report] = (await checked(ask, items=items)).judges
    return report


async def test_a_faultless_judge_is_good() -> None:
    ask = ScriptedJudge(faultless)
    report = await report_on(ask)
    assert (report.coherence.grade, report.similarity.grade) == ("good", "good")
    assert (report.coherence.false_accepts, report.coherence.false_rejects) == (Rate(0, 20), Rate(0, 10))
    assert (report.similarity.false_accepts, report.similarity.false_rejects) == (Rate(0, 30), Rate(0, 20))
    assert (report.pairs, report.order_difference) == (20, 0.0)
    assert (report.judgements, report.replies, report.unreadable, report.unscored) == (80, 80, 0, 0)
    assert ask.calls == 80, "a duplicate has one order"
    assert report.usage.input_tokens == 8000
    assert report.cost == pytest.approx(0.8)


@pytest.mark.parametrize("score", [0, 50, 100])
async def test_a_judge_that_always_says_the_same_is_no_better_than_guessing(score: int) -> None:
    report = await report_on(ScriptedJudge(lambda spec, seen: score))
    assert (report.coherence.grade, report.similarity.grade) == ("chance", "chance")
    assert report.coherence.false_accepts == Rate(20 if score > 15 else 0, 20)
    assert report.similarity.false_rejects == Rate(20 if score > 85 else 0, 20)


async def test_a_judge_that_guesses_is_found_out_nineteen_times_in_twenty() -> None:
    grades: Counter[str] = Counter()
    for number in range(20):
        rng = default_rng(number)

        def guess(spec: ModelSpec, seen: Seen, rng: object = rng) -> int:
            return int(rng.integers(0, 101)) if seen.kind == "coherence" else int(rng.choice([20, 95]))  # type: ignore[attr-defined]

        report = await report_on(ScriptedJudge(guess), items=40)
        grades.update((report.coherence.grade, report.similarity.grade))
    assert grades["chance"] >= 34
    assert grades["good"] == grades["fair"] == 0


OPPOSITE = {95: 20, 20: 95, 5: 90, 90: 5}


def often_wrong(every: int) -> ScriptedJudge:
    """Faultless but for every so-manieth item of a sort, where it says the opposite."""
    count: Counter[tuple[str, bool]] = Counter()

    def say(spec: ModelSpec, seen: Seen) -> int:
        score = faultless(spec, seen)
        sort = (seen.kind, score > 50)
        count[sort] += 1
        return OPPOSITE[score] if count[sort] % every == 1 else score

    return ScriptedJudge(say)


@pytest.mark.parametrize(("every", "grade"), [(13, "good"), (6, "fair"), (4, "poor"), (2, "chance")])
async def test_the_grade_falls_with_the_share_of_errors(every: int, grade: str) -> None:
    report = await report_on(often_wrong(every))
    assert (report.coherence.grade, report.similarity.grade) == (grade, grade)


async def test_too_few_items_tell_nothing() -> None:
    report = await report_on(ScriptedJudge(faultless), items=6)
    assert (report.coherence.grade, report.similarity.grade) == ("unknown", "unknown")


async def test_a_judge_that_minds_the_order_is_seen_to() -> None:
    def first_greater(spec: ModelSpec, seen: Seen) -> int:
        return 50 if seen.kind == "coherence" else 50 + 10 * (seen.texts[1] > seen.texts[2])

    report = await report_on(ScriptedJudge(first_greater))
    assert (report.pairs, report.order_difference) == (20, 10.0)


async def test_unreadable_replies_and_missing_scores_are_counted() -> None:
    def mute_on_likeness(spec: ModelSpec, seen: Seen) -> str | int:
        return "who knows" if seen.kind == "similarity" else faultless(spec, seen)

    report = await report_on(ScriptedJudge(mute_on_likeness))
    assert (report.coherence.grade, report.similarity.grade) == ("good", "silent")
    assert (report.unscored, report.unreadable, report.replies) == (50, 150, 180)
    assert (report.order_difference, report.pairs) == (None, 0)
    assert report.faults == ("no score in 3 replies; the last said 'who knows'",)


async def test_a_judge_that_does_not_answer_at_all_is_asked_once() -> None:
    ask = ScriptedJudge(lambda spec, seen: DOWN)  # type: ignore[arg-type,return-value]
    with pytest.raises(ModelUnavailableError, match=r"a \(scripted\) can't be tried: the server is overloaded"):
        await report_on(ask)
    assert ask.calls == 1


async def test_a_judge_that_fails_later_is_still_reported() -> None:
    ask = ScriptedJudge(lambda spec, seen: faultless(spec, seen) if ask.calls <= 70 else DOWN)  # type: ignore[arg-type,return-value]
    report = await report_on(ask)
    assert (report.unscored, report.faults) == (10, ("the server is overloaded",))


async def test_two_judges_that_agree_have_an_alpha_of_one_and_opposites_a_negative_one() -> None:
    def opposite(spec: ModelSpec, seen: Seen) -> int:
        return OPPOSITE[faultless(spec, seen)]

    report = await checked(ScriptedJudge(faultless), ScriptedJudge(faultless))
    assert (report.coherence_agreement, report.similarity_agreement) == (1.0, 1.0)
    report = await checked(ScriptedJudge(faultless), ScriptedJudge(opposite))
    assert report.coherence_agreement is not None
    assert report.coherence_agreement < 0
    report = await checked(ScriptedJudge(faultless))
    assert report.coherence_agreement is None, "there is nobody to agree with"


async def test_where_alpha_is_not_defined_there_is_none() -> None:
    same = [ScriptedJudge(lambda spec, seen: 50) for _ in range(2)]
    report = await checked(*same)
    assert (report.coherence_agreement, report.similarity_agreement) == (None, None)
    mute = ScriptedJudge(lambda spec, seen: "hm")
    report = await checked(ScriptedJudge(faultless), mute)
    assert (report.coherence_agreement, report.similarity_agreement) == (None, None)


async def test_all_is_asked_at_once_after_the_first() -> None:
    told: list[tuple[int, int]] = []
    judge = Judge(ModelSpec(name="a"), ScriptedJudge(faultless))
    await check([judge], some(controls(), 12, default_rng(0)), lambda done, of: told.append((done, of)))
    assert told == [(done, 16) for done in range(1, 17)]


async def test_a_check_can_be_cancelled() -> None:
    async def never(spec: object, prompt: object, account: object) -> object:
        await asyncio.Event().wait()
        raise CallFailedError("server", "not reached")

    judge = Judge(ModelSpec(name="a"), never)  # type: ignore[arg-type]
    task = asyncio.create_task(check([judge], list(controls())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# ── items from a session ──────────────────────────────────────────────────────────────────────────────────────────────


def chain_of(*texts: str, domain: str = "Biology") -> Chain:
    state = State()
    apply(state, ev.QuestionStarted(question="q", text="Propose a way to count bacteria.", domain=domain))
    for number, text in enumerate(texts, 1):
        apply(state, ev.IdeaAdded(question="q", idea=number, step=number, text=text, author="anna"))
    assert state.chain
    return state.chain


def test_a_session_s_ideas_become_duplicates_pairs_and_strange_answers() -> None:
    items = session_controls([chain_of("plate them", "weigh them", "weigh them", " ")])
    kinds = Counter(item.kind for item in items)
    assert kinds == {"duplicate": 3, "pair": 1, "off-topic": 15}
    assert all(item.question == "Propose a way to count bacteria." for item in items)
    assert [(item.earlier, item.answer) for item in items if item.kind == "pair"] == [("plate them", "weigh them")]
    of_biology = {idea.text for one in control_questions() if one.domain == "Biology" for idea in one.ideas}
    assert not of_biology & {item.answer for item in items}


def test_for_a_question_of_no_field_the_least_alike_give_strange_answers() -> None:
    items = session_controls([chain_of(domain="Own")])
    of_bacteria = {idea.text for idea in control_questions()[0].ideas}
    assert len(items) == 15
    assert not of_bacteria & {item.answer for item in items}


async def test_pairs_of_a_session_count_for_the_order_alone() -> None:
    items = session_controls([chain_of("plate them", "weigh them")])
    judge = Judge(ModelSpec(name="a"), ScriptedJudge(lambda spec, seen: len(seen.texts[1])))
    report = (await check([judge], [item for item in items if item.kind == "pair"])).judges[0]
    assert (report.pairs, report.similarity.false_accepts.of, report.similarity.false_rejects.of) == (1, 0, 0)
    assert report.judgements == 2
