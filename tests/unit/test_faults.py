"""What a server's refusal means, and when it may be asked again."""

import pytest

from core.models import CallFailedError
from core.providers.faults import from_status, retry_after

GEMINI = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: "
    "generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\nPlease retry in 27.6s."
)


def refused(body: str, status: int = 429, **options: object) -> CallFailedError:
    return from_status(status, body, server="the lab", model="m", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (GEMINI, "limited"),
        (GEMINI.partition("Please retry")[0], "limited"),
        ("Rate limit reached for gpt-5 in organization org-x on tokens per min. Please try again in 20s.", "limited"),
        ("You exceeded your current quota, please check your plan. (insufficient_quota)", "quota"),
        ("Your credit balance is too low to access the API. Go to Plans & Billing.", "quota"),
        ("Too many requests. Add billing details to raise the limit.", "limited"),
        ("insufficient_quota for this minute: retry in 5s", "limited"),
    ],
)
def test_an_account_has_nothing_left_only_where_that_is_said_and_no_time_is_named(body: str, kind: str) -> None:
    assert refused(body).kind == kind


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (GEMINI, 27.6),
        ("Please try again in 20s. Visit the docs.", 20),
        ("Please try again in 1m26.4s.", 86.4),
        ("Please try again in 850ms.", 0.85),
        ("retry in 2 minutes", 120),
        ("Try again in 6h30m0s", 23_400),
        ("Retry after 5 seconds", 5),
        ("Please retry after 30.", 30),
        ("slow down", None),
        ("in 20s", None),
        ("try again in a moment", None),
    ],
)
def test_the_time_is_read_from_the_words_too(body: str, seconds: float | None) -> None:
    assert refused(body).retry_after == (None if seconds is None else pytest.approx(seconds))
    assert refused(body, 503).retry_after == (None if seconds is None else pytest.approx(seconds))


def test_and_from_what_is_not_shown_of_the_answer() -> None:
    whole = '[{"error": {"message": "Quota exceeded", "details": [{"@type": "RetryInfo", "retryDelay": "27s"}]}}]'
    assert refused("Quota exceeded", whole=whole).retry_after == 27


def test_a_header_says_it_better() -> None:
    assert refused(GEMINI, headers={"Retry-After": "3"}).retry_after == 3
    assert retry_after({"retry-after-ms": "250"}) == 0.25
    assert retry_after({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=50) == 10
    assert retry_after({"Retry-After": "soon"}) is None
