"""What a model is asked, and what comes back."""

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct
from msgspec.structs import replace

YOU = "you"
"""The author of a person's own ideas: no member is called so."""

Cap = Annotated[int, Meta(ge=1, le=100_000)]
"""The most ideas of a chain."""

Style = Literal["list", "chat", "turns", "concept", "tagged"]
"""How a prompt shows the chain; the texts are in `core.prompts`."""

FinishReason = Literal["stop", "length", "refused"]

FailureKind = Literal[
    "connection",  # nobody there: refused, reset, no such name, no TLS
    "timeout",  # too long without a connection, a first or a next token
    "limited",  # asked too often
    "server",  # its own fault: 5xx, overloaded
    "unreadable",  # it broke off, or is not what was agreed
    "quota",  # the account has nothing left
    "denied",  # 401, 403
    "missing",  # no such model
    "address",  # somebody else answers there: a wrong base_url
    "parameter",  # a parameter that this model does not take
    "context",  # the prompt is too long
    "request",  # any other fault of ours
]

Outcome = Literal["ok", "refused", "truncated", "empty", "failed", "cancelled"]
"""How a call ended: exactly one of these. Only `ok` is ever scored."""

ProviderName = Literal["embedded", "openai", "azure", "anthropic", "bedrock", "ollama", "recorded"]

Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Served(Struct, frozen=True, kw_only=True):
    """Where a model is and what it is called there. Never holds a key."""

    name: str
    provider: str = "embedded"
    """A `ProviderName`; kept open, so that a plan of a newer version can be read and shown."""
    model: str = ""
    """The provider's own name for it: for `azure` a deployment, for `bedrock` a model or inference profile, for
    `embedded` a path to a GGUF file, or "" for the built-in weights."""
    base_url: str = ""
    """Its server, where that is not the provider's own; for `azure` the endpoint."""
    api_key_env: str = ""
    """The environment variable that holds its key. "" means the provider's own variable, but with a `base_url` none:
    a key never travels to a server that it was not meant for."""
    api_version: str = ""
    """For `azure`."""
    base_model: str = ""
    """The model behind an Azure deployment or a Bedrock profile, which says its parameters and its price."""
    region: str = ""
    """For `bedrock`; "" for what AWS's own settings say."""
    aws_profile: str = ""


class ModelSpec(Served, frozen=True, kw_only=True):
    """One language model with the settings it is called with. None and "" leave a setting to the provider."""

    api: Literal["", "chat", "responses"] = ""
    """Which of OpenAI's two; "" for `responses` at OpenAI itself and `chat` everywhere else."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Meta(gt=0, le=10)] | None = None
    """For `embedded` and `ollama`."""
    max_tokens: Annotated[int, Meta(ge=1, le=1_000_000)] = 2048
    """The longest answer, in tokens, thoughts included."""
    context: Annotated[int, Meta(ge=1, le=10_000_000)] = 8192
    """Prompt and answer together, in tokens."""
    effort: Effort = ""
    """How hard a reasoning model is to think."""
    thinking_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    """A budget for thoughts, where the model takes one: part of `max_tokens`. 0: none."""
    refuses: tuple[str, ...] = ()
    """Parameters that this model does not take, by their names here or on the wire: they are left out of requests."""
    keep_alive: str = ""
    """How long Ollama keeps it loaded, as in `30m`."""
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 16
    """Calls under way at once at its endpoint, at most."""
    requests_per_minute: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    pace: Annotated[float, Meta(ge=0, le=3600)] | None = None
    """For `recorded`: seconds that an idea takes to arrive; None for as many as it took, where that is known."""


class EmbedderSpec(Served, frozen=True, kw_only=True):
    """One embedding model."""

    dims: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    """The length of its vectors; None for as many as it gives."""
    threshold: Annotated[float, Meta(ge=0, le=2)] = 0.15
    """The least novelty that passes, on this embedder's own scale."""
    longest: Annotated[int, Meta(ge=16, le=10_000_000)] = 8000
    """The longest text it takes, in tokens; longer ones are embedded in pieces."""
    batch: Annotated[int, Meta(ge=1, le=10_000)] = 64
    """Texts in one request, at most."""
    refuses: tuple[str, ...] = ()
    """As in `ModelSpec`."""
    concurrency: Annotated[int, Meta(ge=1, le=10_000)] = 16
    requests_per_minute: Annotated[float, Meta(gt=0, le=1e9)] | None = None


class Message(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    text: str


class Prompt(Struct, frozen=True, kw_only=True):
    """What is sent: a conversation, or for `completion` one user message whose text the model continues."""

    messages: tuple[Message, ...]
    completion: bool = False
    stop: tuple[str, ...] = ()
    lead: str = ""
    """Words that the prompt ends in and the idea begins with: the answer is `lead` and what the model adds."""
    tag: str = ""
    """The answer is asked for between `<tag>` and `</tag>`."""
    question: str = ""
    held: tuple[str, ...] = ()
    draft: int = 0
    """The question, every idea of the chain, failed ones too, and which of a step's drafts this is to be: never sent,
    for members that speak from records."""
    json_schema: str = ""
    """The JSON schema, as JSON text, that the answer must follow, where the provider can see to it."""


Tokens = Annotated[int, Meta(ge=0, le=2**53)]


class Usage(Struct, frozen=True, kw_only=True):
    """What a call used, in tokens; `seconds` is the time of generation alone."""

    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    reasoning_tokens: Tokens = 0
    cached_tokens: Tokens = 0
    seconds: float = 0.0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """What both used together."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            seconds=self.seconds + other.seconds,
            estimated=self.estimated or other.estimated,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """Tokens used since `other`."""
        return Usage(
            input_tokens=self.input_tokens - other.input_tokens, output_tokens=self.output_tokens - other.output_tokens
        )

    @property
    def tokens_per_second(self) -> float:
        return self.output_tokens / self.seconds if self.seconds > 0 else 0.0


def added(one: float | None, other: float | None) -> float | None:
    """Two costs together, in US dollars; unknown, which is None, if either is."""
    return None if one is None or other is None else one + other


Parameter = str | int | float | bool | None


class Sent(Struct, frozen=True):
    """The first thing a stream gives: the parameters of the request as it went out, messages left out."""

    parameters: dict[str, Parameter]


class TextDelta(Struct, frozen=True):
    text: str


class ThoughtDelta(Struct, frozen=True):
    text: str


class Finish(Struct, frozen=True):
    """The last thing a stream gives."""

    reason: FinishReason
    usage: Usage


Chunk = Sent | TextDelta | ThoughtDelta | Finish


class CallFailedError(Exception):
    """A call that ended without a usable answer; `kind` says what to do about it, the text says it to a person.

    An answer that is no idea (refused, truncated, empty) has no kind.
    """

    def __init__(
        self, kind: FailureKind | None, message: str, *, retry_after: float | None = None, parameter: str = ""
    ) -> None:
        """`retry_after` in seconds, where the server names it; `parameter` is the one refused, by its wire name."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.parameter = parameter


class Provider(Protocol):
    """One way to reach models. Knows nothing of sessions, and tries everything once."""

    async def prepare(self, spec: ModelSpec) -> None:
        """Make `spec` ready to be called (load weights, find a key); no call is made to a server that costs money.

        Raises `ModelUnavailableError` with what to do.
        """

    def endpoint(self, spec: Served) -> str:
        """What shares one limit, in words for a person: a host, or a provider's name. No key is in it."""

    def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """`Sent`, text and thoughts as they come, then one `Finish`. Closing the iterator stops the generation.

        Raises `CallFailedError`.
        """

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """How many tokens `text` is to `spec`, rather more than fewer."""

    def cost(self, spec: Served, usage: Usage) -> float | None:
        """In US dollars; None where the price is unknown."""

    async def close(self) -> None:
        """Let go of weights, sockets and threads."""


class Vectors(Struct, frozen=True):
    """What an embedding model gave: one row a text, in order, as it came (any length, any number)."""

    rows: list[list[float]]
    usage: Usage


class EmbeddingProvider(Protocol):
    async def prepare(self, spec: EmbedderSpec) -> None:
        """As `Provider.prepare`."""

    """A provider that embeds too."""

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """One request. Raises `CallFailedError`."""


class Member(Struct, frozen=True, kw_only=True):
    """A model's place in a team. Its name is never in a prompt."""

    name: Annotated[str, Meta(min_length=1)]
    model: ModelSpec
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    style: Style = "list"
    persona: str = ""


class Budget(Struct, frozen=True, kw_only=True):
    """What a session may use before its chains end, as censored. None: as much as it takes."""

    max_cost: Annotated[
        Annotated[float, Meta(gt=0, le=1e9)] | None, Meta(description="Most US dollars (empty: no limit)")
    ] = None
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=10**15)] | None,
        Meta(description="Most tokens (empty: no limit)"),
    ] = None
    max_minutes: Annotated[
        Annotated[float, Meta(gt=0, le=1e7)] | None, Meta(description="Most minutes (empty: no limit)")
    ] = None


Chooser = Literal["novel", "random"]
"""Who picks among proposals without a model: the one farthest from the chain by embedding, or chance."""


class TeamSpec(Struct, frozen=True, kw_only=True):
    """Members and the strategy that produces the next idea. What a strategy does not need, it does not look at."""

    name: str
    strategy: Literal["solo", "router", "sample", "parallel", "hierarchy", "bandit"] = "solo"
    members: tuple[Member, ...] = ()
    groups: "tuple[Group, ...]" = ()
    """Teams in the place of members."""
    about: str = ""
    inverted: bool = False
    """`sample`: draw in proportion to 1/weight."""
    drafts: Annotated[int, Meta(ge=1, le=20)] = 1
    """`parallel`: how many proposals each member makes."""
    selector: ModelSpec | Chooser | Literal["me"] = "novel"
    """`parallel`: who picks."""
    selector_seconds: Annotated[float, Meta(gt=0, le=1e6)] | None = None
    """`selector = "me"`: how long a person may think before `instead` picks; None: as long as they like."""
    instead: ModelSpec | Chooser = "novel"
    """`selector = "me"`: who picks when the person takes too long."""
    selector_orders: Literal[1, 2] = 1
    """`parallel`: in how many different orders a model is shown the proposals."""
    lead: str = ""
    """`hierarchy`: the member that names directions and chooses; "" for the first."""
    directions: Annotated[int, Meta(ge=1, le=20)] | None = None
    """`hierarchy`: how many; None for one a worker."""
    routes: dict[str, str] = {}
    """`router`: the specialist of each leaf, domain or subdomain; `*` is everybody else's."""
    per: Literal["idea", "cost", "time"] = "idea"
    """`bandit`: what passing ideas are counted by."""

    def __post_init__(self) -> None:
        names = [place.name for place in self.places]
        if not names:
            raise ValueError("A team needs a member")
        if YOU in names:
            raise ValueError(f"No member can be called {YOU!r}: that is the person")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"Two members are called {twice[0]!r}")
        if self.lead and self.lead not in names:
            raise ValueError(f"The lead {self.lead!r} is no member")
        if self.strategy == "hierarchy" and not self.members:
            raise ValueError("A team of teams has nobody to lead it")
        if any(group.team.selector == "me" for group in self.groups):
            raise ValueError('A team within a team can\'t have selector = "me": a person picks once a step')
        if missing := [name for name in self.routes.values() if name not in names]:
            raise ValueError(f"There is a route to {missing[0]!r}, which is no member")

    @property
    def places(self) -> "tuple[Place, ...]":
        return (*self.members, *self.groups)

    @property
    def everybody(self) -> tuple[Member, ...]:
        """All members, those of teams within the team too, by the names that they have in the log."""
        inner = (member for group in self.groups for member in group.named().everybody)
        return (*self.members, *inner)

    @property
    def selectors(self) -> "tuple[ModelSpec, ...]":
        """Models that pick among proposals, in the team and in the teams within it."""
        choosers = (self.selector, self.instead) if self.strategy == "parallel" else ()
        own = (chooser for chooser in choosers if isinstance(chooser, ModelSpec))
        return (*own, *(selector for group in self.groups for selector in group.team.selectors))

    def within(self, places: Collection[str]) -> tuple[Member, ...]:
        """The members of those places, by name; of a group all that are in it."""
        own = (member for member in self.members if member.name in places)
        inner = (group.named().everybody for group in self.groups if group.name in places)
        return (*own, *(member for members in inner for member in members))

    def member(self, name: str) -> Member:
        """One of `everybody`. Raises StopIteration."""
        return next(member for member in self.everybody if member.name == name)


class Group(Struct, frozen=True, kw_only=True):
    """A team in the place of a member."""

    name: Annotated[str, Meta(min_length=1)]
    team: TeamSpec
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0

    def named(self) -> TeamSpec:
        """The team with its members named as in the log: `group/member`."""
        team = self.team

        def full(name: str) -> str:
            return f"{self.name}/{name}" if name else ""

        return replace(
            team,
            members=tuple(replace(member, name=full(member.name)) for member in team.members),
            groups=tuple(replace(group, name=full(group.name)) for group in team.groups),
            lead=full(team.lead),
            routes={leaf: full(name) for leaf, name in team.routes.items()},
        )


Place = Member | Group
"""A member, or a team in the place of one."""
