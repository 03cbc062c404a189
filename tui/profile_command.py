"""The command `jagstorm profile`. Nothing heavy is imported before it runs."""

import math
from typing import Any

import click

from tui.options import AS_JSON, SESSIONS, session_names
from tui.signals import held_signals

CHARTS = (
    "ribbons",
    "scatter",
    "densities",
    "radar",
    "heat",
    "effort",
    "winners",
    "chains",
    "map",
    "who",
    "seeds",
    "costs",
    "length",
    "diversity",
)

SPENT = {"tokens": "reasoning_tokens", "cost": "cost", "seconds": "seconds"}
"""What an idea takes, as it is asked for and as it is called in the numbers."""

MOST = 1_000_000
"""Ideas: no chain has as many."""

_RULES = ("coherence", "embedding_novelty", "judged_novelty", "patience", "max_ideas")


class Threshold(click.FloatRange):
    """A number in a range; NaN, which click takes for one, is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found: float = super().convert(value, param, ctx)
        return self.fail(f"{value} is no number.", param, ctx) if math.isnan(found) else found


@click.command()
@click.argument("names", nargs=-1, shell_complete=session_names, metavar="[SESSION]...")
@click.option("--chart", type=click.Choice(CHARTS), default="ribbons", metavar="NAME", help=f"{', '.join(CHARTS)}.")
@click.option(
    "--by", type=click.Choice(["leaf", "domain", "question"]), help="One row a model and leaf, domain or question."
)
@click.option("--x", "spent", type=click.Choice(SPENT), help="What an idea takes, in the chart effort.")
@click.option("--domain", metavar="D", default="", help="Only questions of this domain or subdomain.")
@click.option("--question", "words", metavar="WORDS", default="", help="Only questions that hold all these words.")
@click.option("--coherence", type=Threshold(0, 100), metavar="C", help="Ideas of no more than this fail.")
@click.option(
    "--embedding",
    "embedding_novelty",
    type=Threshold(0, 1),
    metavar="E",
    help="Ideas less novel than this fail.",
)
@click.option("--judged", "judged_novelty", type=Threshold(0, 1), metavar="J", help="The same of novelty as judged.")
@click.option("--patience", type=click.IntRange(1, MOST), metavar="N", help="Failing ideas in a row that end a chain.")
@click.option("--cap", "max_ideas", type=click.IntRange(1, MOST), metavar="N", help="The most ideas of a chain.")
@AS_JSON
@click.option("--csv", "as_csv", is_flag=True, help="The numbers as CSV.")
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="The chart as a picture.")
@SESSIONS
@click.pass_context
def profile(context: click.Context, /, **options: Any) -> None:
    """Show where models and teams are strong: sessions, and result files of the public benchmarks, as a chart.

    SESSION is a session, a result file or a folder of such files; without any, all sessions count. For the scatter a
    CSV of model, total and questions may be among them. Rules that are given rescore what is stored; of those that are
    not, each session keeps its own.
    """
    with held_signals():
        from core.analysis.rescoring import Change
        from tui.profiling import Wanted, show_profile

    options["spent"] = SPENT.get(options["spent"])
    options = {name: value or context.obj.get(name, value) for name, value in options.items()}
    change = Change(**{name: options.pop(name) for name in _RULES})
    context.exit(show_profile(Wanted(change=change, **options)))
