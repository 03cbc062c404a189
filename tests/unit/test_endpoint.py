"""One server's limits, on a clock that stands still."""

import asyncio

import pytest

from core.providers.endpoint import Endpoint
from tests.clocks import HeldClock, settled


class Calls:
    """Calls that stay under way until they are told how they end."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.began: list[float] = []
        self.ends: list[asyncio.Future[str]] = []

    async def call(self) -> None:
        async with self.endpoint.slot() as began:
            self.began.append(began)
            end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self.ends.append(end)
            if await end == "throttled":
                self.endpoint.throttled(began, 7.0)
            else:
                self.endpoint.succeeded()

    def end(self, how: str = "well") -> None:
        """End all that are under way."""
        for end in self.ends:
            if not end.done():
                end.set_result(how)


async def test_no_more_are_under_way_than_may_be_and_the_rest_follow_in_their_order() -> None:
    calls = Calls(Endpoint(HeldClock(), 3))
    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(calls.call())
        await settled()
        assert len(calls.began) == 3
        calls.end()
        await settled()
        assert len(calls.began) == 6
        calls.end()
        await settled()
        calls.end()
    assert len(calls.began) == 8


async def test_a_wave_of_429s_cuts_the_concurrency_once_and_holds_everybody() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 50)
    calls = Calls(endpoint)
    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(calls.call())
        await settled()
        clock.time += 1
        calls.end("throttled")
        await settled()
        assert endpoint.limit == 25
        group.create_task(calls.call())
        await clock.advance(6.9)
        assert len(calls.began) == 50, "nobody new asks before its time"
        await clock.advance(0.2)
        assert len(calls.began) == 51
        calls.end()


async def test_concurrency_climbs_back_one_for_as_many_calls_as_may_be_under_way() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 8)
    endpoint.throttled(clock.time, 0)
    assert endpoint.limit == 4
    for _ in range(5):
        endpoint.succeeded()
    assert endpoint.limit == 5
    for _ in range(100):
        endpoint.succeeded()
    assert endpoint.limit == 8


async def test_it_never_falls_below_one() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 2)
    for _ in range(5):
        clock.time += 1
        endpoint.throttled(clock.time, 0)
    assert endpoint.limit == 1


async def test_requests_a_minute_are_spaced() -> None:
    clock = HeldClock()
    calls = Calls(Endpoint(clock, 50, requests_per_minute=60))
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(calls.call())
        await clock.advance(10)
        assert [began - calls.began[0] for began in calls.began] == [0, 1, 2, 3]
        calls.end()


async def test_whoever_gives_up_waiting_leaves_the_turn_to_the_next() -> None:
    calls = Calls(Endpoint(HeldClock(), 1))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(calls.call())
        await settled()
        impatient = group.create_task(calls.call())
        last = group.create_task(calls.call())
        await settled()
        calls.end()
        impatient.cancel()  # at the moment at which it would have been its turn
        await settled()
        assert (first.done(), impatient.done()) == (True, True)
        calls.end()
        await settled()
        assert last.done()


async def test_whoever_was_woken_and_gives_up_while_it_is_closed_leaves_the_turn_to_the_next() -> None:
    clock = HeldClock()
    calls = Calls(Endpoint(clock, 1))
    async with asyncio.TaskGroup() as group:
        group.create_task(calls.call())
        await settled()
        impatient = group.create_task(calls.call())
        last = group.create_task(calls.call())
        await settled()
        calls.endpoint.throttled(clock.time, 7.0)
        calls.end()  # its turn comes, and it finds nobody may ask
        await settled()
        impatient.cancel()
        await clock.advance(8)
        assert len(calls.began) == 2
        calls.end()
        await settled()
        assert last.done()


async def test_whoever_is_held_is_told_for_how_long() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 9)
    endpoint.throttled(clock.time, 7.0)
    told: list[float] = []

    async def call() -> None:
        async with endpoint.slot(told.append):
            pass

    async with asyncio.TaskGroup() as group:
        group.create_task(call())
        await settled()
        endpoint.throttled(clock.time, 9.0)
        await clock.advance(9)
    assert told == [7.0, 2.0]


async def test_whoever_is_told_can_give_up() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 1)
    endpoint.throttled(clock.time, 3600.0)

    def impatient(seconds: float) -> None:
        raise TimeoutError(f"{seconds:g} s")

    with pytest.raises(TimeoutError, match="3600 s"):
        async with endpoint.slot(impatient):
            pass
    assert clock.sleepers == 0


async def test_of_several_limits_the_least_counts() -> None:
    clock = HeldClock()
    endpoint = Endpoint(clock, 16)
    endpoint.tighten(2, None)
    endpoint.tighten(8, 60)
    endpoint.tighten(8, 600)
    for _ in range(100):
        endpoint.succeeded()
    calls = Calls(endpoint)
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(calls.call())
        await clock.advance(10)
        assert [began - calls.began[0] for began in calls.began] == [0, 1]
        calls.end()
        await clock.advance(1)
        calls.end()
