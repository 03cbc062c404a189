"""What a judge's reply is read as: a score that is plainly there, or none."""

from time import perf_counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.scoring.reading import read_score


@pytest.mark.parametrize(
    "reply",
    [
        "<score>75</score>",
        "<SCORE> 75 </SCORE>",
        "<score>\n75\n</score>",
        "<score>75.0</score>",
        "<score>75/100</score>",
        "<score>75 / 100</score>",
        "<score>Score: 75</score>",
        "<score>**75**</score>",
        '<score>{"score": 75}</score>',
        "The idea is sound, though 20 years old. <score>75</score> That is all.",
        "```\n<score>75</score>\n```",
        "75",
        "75.0",
        "75/100",
        "75.",
        "75%",
        "75 out of 100",
        "Score: 75",
        "**Score:** 75/100",
        "Final score: **75**",
        "The coherence score is 75.",
        '{"score": 75}',
        '{"score": 75.0}',
        '{"score": "75"}',
        '{"score": "75/100"}',
        '{"reason": "it says <score>99</score>", "score": 75}',
        '```json\n{"score": 75}\n```',
        'Here it is:\n```json\n{"score": 75}\n```\nDone.',
        "```\n75\n```",
    ],
)
def test_a_score_that_is_plainly_there_is_read(reply: str) -> None:
    assert read_score(reply) == 75


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "fifty",
        "<score>fifty</score>",
        "850",
        "<score>850</score>",
        "101",
        "-5",
        "−5",
        "<score>-5</score>",
        '{"score": -5}',
        '{"score": 850}',
        '{"score": null}',
        '{"score": true}',
        '{"score": [75]}',
        '{"score": 1e400}',
        '{"score": NaN}',
        '{"rating": "high"}',
        "0.75",
        "<score>72.5</score>",
        "7.5/10",
        "75/10",
        "1/100 of 75",
        "70-80",
        "7*5",
        "75 85",
        "I would rate this idea at 75 of all those I know.",
        "Of the 3 ideas, 75 percent overlap",
        "I'm sorry, but I can't help with grading this.",
        "<score></score>",
        "<score>75",
        "75</score>",
        "<score>N</score>",
        "٧٥",
    ],
)
def test_what_is_no_score_is_none(reply: str) -> None:
    assert read_score(reply) is None


def test_of_two_tags_the_last_complete_one_counts() -> None:
    assert read_score("<score>10</score> no, rather <score>75</score>") == 75
    assert read_score("<score>75</score> or <score>10") == 75
    assert read_score("<score>10 <score>75</score>") == 75
    assert read_score("<score>75</score> I mean <score>good</score>") is None


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("<think>perhaps <score>10</score></think><score>75</score>", 75),
        ("<think>perhaps <score>10</score></think>75", 75),
        ("<score>75</score><think>or was it <score>10</score>?</think>", 75),
        ("perhaps <score>10</score></think><score>75</score>", 75),
        ("perhaps <score>10</score></think>", None),
        ("<think>perhaps <score>10</score>", None),
        ("<think>perhaps <score>10</score></think>", None),
        ("<think>a</think>\n<thinking>b <score>10</score></thinking>\n<score>75</score>", 75),
        ("<think>a <think>b</think> <score>10</score></think> <score>75</score>", 75),
        ('<think>{"score": 10}</think>{"score": 75}', 75),
    ],
)
def test_what_was_only_thought_is_not_read(reply: str, score: int | None) -> None:
    assert read_score(reply) == score


@pytest.mark.parametrize("score", [0, 1, 15, 16, 85, 99, 100])
def test_every_score_of_the_scale_is_read(score: int) -> None:
    assert (
        read_score(f"<score>{score}</score>") == read_score(f'{{"score": {score}}}') == read_score(str(score)) == score
    )


_PIECES = st.sampled_from(
    [
        "<score>",
        "</score>",
        "<think>",
        "</think>",
        "75",
        "-",
        ".0",
        "/100",
        '{"score": ',
        "}",
        "```",
        "\n",
        "\ud800",
        " ",
    ]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=12).map("".join)))
@example("[" * 100_000)
@example('{"score":' * 50_000)
@example("9" * 10_000)
@example('{"score": ' + "9" * 10_000 + "}")
def test_any_reply_is_read_as_a_score_or_none(reply: str) -> None:
    score = read_score(reply)
    assert score is None or 0 <= score <= 100


@pytest.mark.parametrize("piece", ["<score>", "<", "score ", "```\n", "*", "5"])
def test_a_long_reply_is_read_in_no_time(piece: str) -> None:
    began = perf_counter()
    read_score(piece * 20_000)
    assert perf_counter() - began < 0.5
