"""A thousand judgements at once, against a real server: none fails, and nothing is left behind."""

import asyncio
import gc
import os
from pathlib import Path

from aiohttp import web

from core.providers.calls import Caller
from core.providers.openai import OpenAIProvider
from core.scoring.account import Account
from core.scoring.calling import CallJudge
from core.scoring.judge import Judge
from tests.faults.openai_wire import ChatWire
from tests.faults.server import FaultServer, Handler


def open_files() -> int:
    return len(list(Path(f"/proc/{os.getpid()}/fd").iterdir())) if Path("/proc").exists() else 0


def after(seconds: float, handler: Handler) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await handler(request)

    return handle


async def test_a_thousand_judgements_at_once_leave_nothing_behind() -> None:
    async with FaultServer(after(0.2, ChatWire().answer("<score>75</score>", pieces=1))) as server:
        provider = OpenAIProvider()
        caller = Caller(lambda _: provider)
        spec = ChatWire().spec(server, concurrency=100)

        async def judged(count: int) -> set[int | None]:
            account = Account()
            judge = Judge(spec, CallJudge(caller))
            async with asyncio.TaskGroup() as group:
                answers = [f"Idea {number}." for number in range(count)]
                asked = [group.create_task(judge.coherence("How?", answer, account)) for answer in answers]
            return {one.result().score for one in asked}

        assert await judged(100) == {75}
        gc.collect()
        files, objects, tasks = open_files(), len(gc.get_objects()), len(asyncio.all_tasks())
        server.requests.clear()
        assert await judged(1000) == {75}
        assert len(server.requests) == 1000
        assert 50 <= server.most_under_way <= 100
        server.requests.clear()
        gc.collect()
        # The server may hold as many connections as there were calls at once, each with a task and two sockets.
        assert len(asyncio.all_tasks()) <= tasks + 100
        assert open_files() <= files + 200
        assert len(gc.get_objects()) - objects < 5000, "less than five objects a call"
        await provider.close()
