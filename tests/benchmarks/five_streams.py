"""`jagstorm`, with sessions in which five members write at once, 100 tokens a second each."""

import asyncio
from typing import Any

import core.opening
from core import events as ev
from core.models import Usage
from core.session import Session
from tests.scripted import WORDS
from tests.terminal import scripted_app

MEMBERS = ("one", "two", "three", "four", "five")

IDEAS = 40


class FiveStreams(Session):
    """A session with ideas to move among, and then five proposals that are written all the time."""

    async def run(self) -> ev.SessionEnded:
        asked = self.plan.questions[0]
        self.emit(ev.SessionStarted(version="0"))
        self.emit(ev.QuestionStarted(question=asked.id, text=asked.text, domain=asked.domain))
        for number in range(1, IDEAS + 1):
            text = f"Couple the {WORDS[number % 30]} to a {WORDS[number * 7 % 30]}."
            self.emit(ev.IdeaAdded(question=asked.id, idea=number, step=number, text=text, author="you"))
            novelty = number / IDEAS
            self.emit(ev.IdeaScored(question=asked.id, idea=number, embedding_novelty=novelty, verdict="passed"))
        self.emit(ev.StepStarted(question=asked.id, step=1, members=MEMBERS))
        async with asyncio.TaskGroup() as group:
            for member in MEMBERS:
                group.create_task(self._write(asked.id, member))
        raise AssertionError("they write until the app is closed")

    async def _write(self, question: str, member: str) -> None:
        while True:
            step: dict[str, Any] = {"question": question, "step": 1, "member": member}
            self.emit(ev.ProposalStarted(**step))
            for place in range(400):
                self.emit(ev.ProposalDelta(**step, text=f" {WORDS[place * 7 % 30]}"))
                await asyncio.sleep(0.01)
            self.emit(ev.ProposalFinished(**step, text="done", usage=Usage(output_tokens=400, seconds=4.0)))


if __name__ == "__main__":
    opening: Any = core.opening
    opening.Session = FiveStreams
    scripted_app.main()
