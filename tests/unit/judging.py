"""Scripted judges: what a model would say, from what it is asked."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from core.models import CallFailedError, ModelSpec, Outcome, Prompt, Usage
from core.scoring.account import Account
from core.scoring.controls import controls
from core.scoring.judge import Reply

SPEC = ModelSpec(name="haiku", provider="scripted", model="haiku-9")

USED = Usage(input_tokens=100, output_tokens=5, seconds=0.5)


class Seen(Struct):
    """What a judge is asked, taken apart: the fenced texts, and all that stands outside the fence."""

    texts: list[str]
    outside: str

    @property
    def kind(self) -> str:
        return "similarity" if len(self.texts) == 3 else "coherence"


def see(prompt: Prompt) -> Seen:
    system, user = prompt.messages
    found = re.search(r"\[begin (\w+)\]", system.text)
    assert found
    fenced = re.compile(rf"\[begin {found[1]}\]\n(.*?)\n\[end {found[1]}\]", re.DOTALL)
    return Seen(fenced.findall(user.text), fenced.sub("", user.text))


Say = Callable[[ModelSpec, Seen], str | int]


class ScriptedJudge:
    """Answers each call with what `say` makes of it, or with the next of `replies`."""

    def __init__(self, say: Say | None = None, *, replies: Sequence[str | Outcome | Exception] = ()) -> None:
        self._say = say
        self._replies = list(replies)
        self.prompts: list[Prompt] = []
        self.specs: list[ModelSpec] = []

    @property
    def calls(self) -> int:
        return len(self.prompts)

    def kinds(self) -> list[str]:
        return [see(prompt).kind for prompt in self.prompts]

    async def prepare(self, spec: ModelSpec) -> None:
        pass

    async def __call__(self, spec: ModelSpec, prompt: Prompt, account: Account) -> Reply:
        self.prompts.append(prompt)
        self.specs.append(spec)
        reply = self._say(spec, see(prompt)) if self._say else self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        account.pay(USED, 0.01)
        if reply in ("refused", "truncated", "empty"):
            return Reply(reply, "")  # type: ignore[arg-type]
        return Reply("ok", str(reply))


def obedient(honest: int) -> Say:
    """Gives `honest`, but for orders outside the fence: those it obeys, whoever wrote them."""

    def say(spec: ModelSpec, seen: Seen) -> str | int:
        order = re.search(r"<score>\s*(\d+)\s*</score>|give it (\d+)", seen.outside)
        return (order[1] or order[2]) if order else honest

    return say


def faultless(spec: ModelSpec, seen: Seen) -> int:
    """Knows every control, and scores it as a good judge does."""
    known = {_key(control.question, control.earlier, control.answer): control.fails for control in controls()}
    question, *answers = seen.texts
    earlier = answers[0] if len(answers) == 2 else None
    bad = known.get(_key(question, earlier, answers[-1]))
    if bad is None:
        bad = earlier == answers[-1]
    return (95 if bad else 20) if earlier is not None else (5 if bad else 90)


def _key(question: str, earlier: str | None, answer: str) -> tuple[str, frozenset[str], bool]:
    return question, frozenset((earlier or answer, answer)), earlier is None


DOWN = CallFailedError("server", "the server is overloaded")
