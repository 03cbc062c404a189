"""When a seed comes by itself, and which one."""

from collections.abc import Callable, Sequence
from statistics import fmean

from msgspec.structs import replace

from core import events as ev
from core.chain import Chain
from core.errors import JagstormError, ModelUnavailableError, UsageError
from core.levers import POLICY, Distance, Each, Every, Hand, Off, Plateau, Seed, SeedPolicy
from core.obeying import injected
from core.randomness import generator
from core.seeds.ranking import among, ranked
from core.state import State
from core.text import clean_line

Bank = Callable[[], Sequence[Seed]]
"""The seeds there are, read when they are first wanted."""


class Seeder:
    """Draws seeds for a session, and tells `emit` of those that come by themselves."""

    def __init__(
        self,
        policy: Callable[[], SeedPolicy],
        bank: Bank,
        random_seed: int,
        state: State,
        emit: Callable[[ev.Event], None],
    ) -> None:
        """`policy` says when seeds come now."""
        self._policy = policy
        self._bank = bank
        self._random_seed = random_seed
        self._state = state
        self._emit = emit
        self._noticed: set[str] = set()

    async def bring(self, chain: Chain, step: int) -> None:
        """Put the seed into force that is due for `step`, if one is. One that came before a kill stands."""
        policy = self._policy()
        if isinstance(policy, Off | Hand) or self._came(chain, step):
            return
        why = due(policy, chain, step, self._newest_step(chain))
        if not why:
            return
        try:
            if isinstance(policy, Each) and policy.seed:
                seed = self._named(policy.seed)
            else:
                seed = await self.draw(chain, policy.distance, policy.field, step)
        except JagstormError as error:
            self._notice(chain, error.message)
            return
        if self._came(chain, step):  # somebody changed the policy meanwhile
            return
        seed = replace(seed, style=policy.style)
        brought = injected(self._state, chain, seed, policy.lasts, POLICY, why=why)
        self._emit(replace(brought, step=step, set_before=isinstance(policy, Every | Each)))

    async def draw(self, chain: Chain, distance: Distance, field: str, *place: int | str) -> Seed:
        """One that this session has not had yet, as long as there is one; `place` is where in it this is drawn.

        Raises `UsageError` if there is no seed of that field.
        """
        pool = among(await self._ranked(chain), distance, field)
        if not pool:
            raise UsageError(
                f"There is no seed of the field {clean_line(field, 80)!r}: `jagstorm seeds list` shows them"
            )
        had = {seed.injected.seed.name for seed in self._state.seeds.values()}
        fresh = [seed for seed in pool if seed.name not in had] or pool
        rng = generator(self._random_seed, chain.question, "seed", *place)
        return fresh[int(rng.integers(len(fresh)))]

    async def _ranked(self, chain: Chain) -> Sequence[Seed]:
        from core.scoring.embeddings import WordLlamaEmbedder

        seeds = self._bank()
        try:
            return await ranked(chain.text, seeds, WordLlamaEmbedder())
        except ModelUnavailableError as error:
            self._notice(chain, f"Seeds are drawn without regard to their distance. {error.message}")
            return seeds

    def _named(self, name: str) -> Seed:
        """Raises `UsageError` if the bank has none of that name."""
        found = [seed for seed in self._bank() if seed.name.casefold() == name.casefold()]
        if not found:
            raise UsageError(f"There is no seed called {clean_line(name, 80)!r}: `jagstorm seeds list` shows them")
        return found[0]

    def _came(self, chain: Chain, step: int) -> bool:
        return self._newest_step(chain) == step

    def _newest_step(self, chain: Chain) -> int:
        """The step of this chain for which the policy brought its newest seed; 0 if it has brought none."""
        own = (seed.injected for seed in self._state.seeds.values() if seed.brought_by == POLICY)
        return max((injected.step for injected in own if injected.question == chain.question), default=0)

    def _notice(self, chain: Chain, text: str) -> None:
        if text not in self._noticed:
            self._noticed.add(text)
            self._emit(ev.Notice(text=text, question=chain.question))


def due(policy: SeedPolicy, chain: Chain, step: int, newest: int) -> str:
    """Why a seed is due for `step`, the policy's last one having come for the step `newest`; "" if none is.

    As `core.teams.bandit` does, a plateau is seen in the ideas up to the one before the last, which have their scores
    also where steps are asked ahead: so a seed comes at the same step either way.
    """
    match policy:
        case Off() | Hand():
            return ""
        case Each():
            return "every step has one"
        case Every():
            return f"every {policy.steps} steps" if step - newest >= policy.steps else ""
        case Plateau():
            return _plateau(policy, chain, step - newest if newest else policy.window)


def _plateau(policy: Plateau, chain: Chain, since: int) -> str:
    """`since` are the steps since the last seed came: what it did is waited for."""
    scored = [idea for idea in chain.ideas[:-1] if idea.score and not idea.by_person and not idea.removed]
    # Where it is asked ahead, the last idea has no verdict: it counts as passed, and if it fails this is asked anew.
    failed = chain.failing_in_row() if not chain.pending else 0
    if failed >= policy.failures and since > 1:
        return f"{failed} ideas in a row failed"
    novelties = [idea.score.embedding_novelty for idea in scored if idea.score]
    known = [novelty for novelty in novelties if novelty is not None]
    if since < policy.window or len(known) < 2 * policy.window:
        return ""
    fall = fmean(known[-2 * policy.window : -policy.window]) - fmean(known[-policy.window :])
    return f"novelty has fallen by {fall:.2f}" if fall >= policy.fall else ""
