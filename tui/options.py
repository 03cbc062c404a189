"""Options that several commands share, and how a shell completes them."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from core.levers import SeedPolicy
    from core.settings import Settings

SESSIONS = click.option(
    "--sessions",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where sessions are kept (default: $JAGSTORM_SESSIONS, else ./sessions).",
)
QUESTIONS = click.option(
    "--questions",
    "question_files",
    metavar="FILE",
    type=click.Path(),
    multiple=True,
    help="A file of your own questions, TOML or one a line. Can be given several times.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Machine-readable output, one object a line.")
CONFIG = click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    help="Your settings (default: $JAGSTORM_CONFIG, else config.toml in the config folder).",
)
DETACH = click.option(
    "--detach", is_flag=True, help="Come back as soon as it has begun, and leave it running without a terminal."
)
MAX_IDEAS = click.option("--max-ideas", type=click.IntRange(1, 100_000), metavar="N", help="Stop after N ideas.")


OWN_FIRST = click.option(
    "--own-first",
    metavar="[MINUTES]",
    type=click.FloatRange(0, 1440, min_open=True),
    is_flag=False,
    flag_value=5.0,
    help="Write ideas of your own before the team does; the minutes only advise (default: 5).",
)


def own_ideas(command: Any) -> Any:
    """Ideas of one's own, for a session without a screen."""
    given = click.option(
        "--own", metavar="FILE", help="Your own ideas, one a line, before the team begins; - reads standard input."
    )
    hidden = click.option("--own-hidden", is_flag=True, help="Don't show the team your ideas of --own.")
    return given(hidden(command))


def session_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.config import sessions_folder
    from core.errors import UsageError
    from core.store.library import session_folders

    try:
        folders = session_folders(sessions_folder(None))
    except UsageError:
        folders = []  # there is nobody to tell while a line is being completed
    names = ["last", "example", *(folder.name for folder in folders)]
    return [name for name in names if name.startswith(incomplete)]


def question_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.questions import load_bank

    return [question.id for question in load_bank().questions if question.id.startswith(incomplete)]


OF_QUESTION = click.option(
    "--question-id",
    "question",
    metavar="ID",
    default="",
    shell_complete=question_ids,
    help="Whose idea it is, where a session has several questions (default: the one under way).",
)


def model_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of the config file, and those that are usual; nobody is asked while a line is being completed."""
    from core.naming import usual_names

    names = ("embedded", *_settings_while_completing().models, *usual_names())
    return [name for name in names if name.startswith(incomplete)]


def _settings_while_completing() -> "Settings":
    from core.errors import UsageError
    from core.settings import Settings, read_settings, settings_path

    try:
        return read_settings()
    except UsageError:
        return Settings(path=settings_path())  # there is nobody to tell


MODELS = click.option(
    "--model",
    "models",
    metavar="NAME",
    multiple=True,
    shell_complete=model_names,
    help="A model: a name in your settings, PROVIDER/MODEL or a GGUF file. Several make a team.",
)


def speed_factor(_: click.Context, __: click.Parameter, value: str) -> float:
    """A factor, or `max` for as fast as possible."""
    try:
        speed = float("inf") if value == "max" else float(value)
    except ValueError:
        speed = 0.0
    if not (0.1 <= speed <= 1000 or value == "max"):
        raise click.BadParameter("a number from 0.1 to 1000, or max")
    return speed


def team_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.naming import team_tables

    return [name for name in team_tables(_settings_while_completing()) if name.startswith(incomplete)]


SESSION = click.argument("session", shell_complete=session_names)


def loudness(command: Any) -> Any:
    quiet = click.option("-q", "--quiet", is_flag=True, help="No progress.")
    verbose = click.option("-v", "--verbose", is_flag=True, help="More progress: each step and notice.")
    return quiet(verbose(command))


def budgeted(command: Any) -> Any:
    """The limits at which a session ends, to be resumed with larger ones."""
    cost = click.option(
        "--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Stop at so many US dollars."
    )
    tokens = click.option(
        "--max-tokens", type=click.IntRange(1), metavar="N", help="Stop at N tokens, read and written."
    )
    minutes = click.option(
        "--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Stop after N minutes."
    )
    return cost(tokens(minutes(command)))


def judged(command: Any) -> Any:
    """Who judges, and what measures novelty."""
    judges = click.option(
        "--judge",
        "judges",
        metavar="NAME",
        multiple=True,
        shell_complete=model_names,
        help="A model that judges coherence and novelty. Several make a panel; `none`: nobody.",
    )
    nearest = click.option(
        "--nearest",
        type=click.IntRange(1),
        metavar="K",
        help="Judges compare with the K nearest ideas by embedding, not with every one.",
    )
    checked = click.option(
        "--controls",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Give judges something of known score beside this share of ideas.",
    )
    embedder = click.option(
        "--embedder", metavar="NAME", help="What measures novelty: wordllama, or PROVIDER/MODEL (default: wordllama)."
    )
    return judges(nearest(checked(embedder(command))))


def seeds_word(_: click.Context, __: click.Parameter, value: str | None) -> "SeedPolicy | None":
    """`off`, `hand`, `every`, `every:N`, `plateau`, `each` or `each:NAME`."""
    if value is None:
        return None
    import msgspec

    from core.levers import SeedPolicy

    kind, colon, rest = value.partition(":")
    table = {"when": kind}
    if colon:
        table[{"every": "steps", "each": "seed"}.get(kind, "when")] = rest
    try:
        policy: SeedPolicy = msgspec.convert(table, SeedPolicy, strict=False)
    except msgspec.ValidationError:
        raise click.BadParameter("off, hand, every:N (as in every:4), plateau, each, or each:NAME") from None
    return policy


def seed_fields(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from core.questions import LEAVES

    return [leaf for leaf in LEAVES if leaf.casefold().startswith(incomplete.casefold())]


SEED_FIELD = click.option(
    "--seed-field", metavar="FIELD", shell_complete=seed_fields, help="Only seeds of this field, as in Chemistry."
)


def seeded(command: Any) -> Any:
    """When seeds come by themselves, and which."""
    policy = click.option(
        "--seeds",
        metavar="WHEN",
        callback=seeds_word,
        help="When seeds of other fields come: off, hand, every:N (steps), plateau, each (step), or each:NAME.",
    )
    distance = click.option(
        "--seed-distance", type=click.Choice(["far", "near", "any"]), help="How far from the question (default: far)."
    )
    style = click.option(
        "--seed-style",
        type=click.Choice(["mention", "analogy", "constraint"]),
        help="How a seed is put into the prompt (default: analogy).",
    )
    return policy(distance(SEED_FIELD(style(command))))


def seed_wish(options: dict[str, Any]) -> "SeedPolicy | None":
    """The policy that `seeded` options ask for, taken out of them. Raises `UsageError`, `click.UsageError`."""
    from msgspec.structs import replace

    from core.levers import Each, Every, Plateau, SeedPolicy
    from core.seeds.sources import banked, field_named

    policy: SeedPolicy | None = options.pop("seeds")
    given = {name: options.pop(f"seed_{name}") for name in ("distance", "field", "style")}
    given = {name: value for name, value in given.items() if value is not None}
    if not isinstance(policy, Every | Plateau | Each):
        if given:
            raise click.UsageError(f"--seed-{next(iter(given))} needs --seeds every:N, plateau or each")
        return policy
    if "field" in given:
        given["field"] = field_named(given["field"], banked().leaves())
    if isinstance(policy, Each) and policy.seed:
        given["seed"] = banked().get(policy.seed).name
    changed: SeedPolicy = replace(policy, **given)
    return changed


def with_shared(context: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """The command's options; those that it shares with `jagstorm` itself may also stand before its name."""
    return {name: value or context.obj.get(name, value) for name, value in options.items()}
