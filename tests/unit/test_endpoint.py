"""One server's limits, on a clock that stands still."""

import asyncio

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
        assert endpoint.closed_until == clock.time + 7
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
