"""Every strategy on the embedded model, for real: ten ideas each, who wrote them, and what it took.

python -m tests.benchmarks.real_strategies
"""

import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Plan
from core.models import Group, TeamSpec
from core.opening import begin
from core.providers.catalog import Providers
from core.questions import load_bank
from core.rules import WORDLLAMA_THRESHOLD, rules_for
from core.session import Session
from core.store import library
from core.teams.presets import default_team

IDEAS = 10

CAREFUL, BOLD, ANALOGIST = MEMBERS = default_team().members


def teams() -> list[TeamSpec]:
    """One of each strategy, and one within another."""
    base = TeamSpec(name="solo", strategy="solo", members=MEMBERS)
    return [
        base,
        replace(base, name="sample", strategy="sample"),
        replace(base, name="inverted", strategy="sample", inverted=True),
        replace(base, name="router", strategy="router", routes={"Condensed Matter": "analogist", "*": "bold"}),
        replace(base, name="parallel, novel", strategy="parallel"),
        replace(base, name="parallel, picked", strategy="parallel", selector=BOLD.model),
        replace(base, name="hierarchy", strategy="hierarchy", lead="bold"),
        replace(base, name="bandit", strategy="bandit"),
        TeamSpec(
            name="nested",
            strategy="sample",
            members=(CAREFUL,),
            groups=(Group(name="lab", team=replace(base, strategy="parallel", members=(BOLD, ANALOGIST))),),
        ),
    ]


def _stop_if_paused(session: Session, event: ev.Event) -> None:
    if isinstance(event, ev.Paused):
        session.send(cmd.Stop(by=event.why))


async def main() -> None:
    question = load_bank().get("shape-memory-ten-uses")
    providers = Providers()
    rules = replace(rules_for(WORDLLAMA_THRESHOLD), max_ideas=IDEAS, patience=IDEAS)
    with TemporaryDirectory() as folder:
        for team in teams():
            plan: Plan = library.new_plan((question,), team, rules, random_seed=7)
            session = begin(Path(folder), plan, providers)
            session.subscribe(lambda event, session=session: _stop_if_paused(session, event))  # type: ignore[misc]
            began = perf_counter()
            await session.run()
            chain = session.state.chain
            assert chain
            authors = ", ".join(f"{name} {count}" for name, count in Counter(i.author for i in chain.ideas).items())
            end = chain.ended.reason if chain.ended else "?"
            print(
                f"{team.name:<17} {chain.responses:>2} ideas, {chain.passed:>2} pass, {perf_counter() - began:5.1f} s, "
                f"{session.state.tokens:>6,} tokens, ended by {end}: {authors}",
                flush=True,
            )
    await providers.close()


if __name__ == "__main__":
    asyncio.run(main())
