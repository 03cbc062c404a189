"""Who made a model, and when two names mean the same one, whoever serves it."""

import functools
import re

from core.models import ModelSpec, Served
from core.providers.known import family_of, host_for, name_paid_for

# In this order: what one maker has distilled into another's model is its own.
_MAKERS = (
    ("DeepSeek", r"deepseek"),
    ("NVIDIA", r"(llama-[0-9.]+-)?nemotron"),
    ("Anthropic", r"claude"),
    ("OpenAI", r"(gpt|chatgpt|o[1-9](?![a-z0-9])|4o(?![a-z0-9])|davinci|codex)"),
    ("Google", r"(gemini|gemma|codegemma|palm)"),
    ("Alibaba", r"(qwen|qwq)"),
    ("Meta", r"(meta-)?(code)?llama"),
    ("Mistral", r"(mistral|ministral|mixtral|magistral|devstral|codestral|pixtral|open-mi)"),
    ("Moonshot", r"kimi"),
    ("Z.ai", r"(glm|chatglm)"),
    ("MiniMax", r"minimax"),
    ("xAI", r"grok"),
    ("Microsoft", r"phi-?[0-9]"),
    ("Amazon", r"(nova-|titan)"),
    ("Cohere", r"(command-|aya)"),
    ("IBM", r"granite"),
    ("Ai2", r"(olmo|tulu)"),
    ("Hugging Face", r"(smollm|zephyr)"),
)

_LATER = re.compile(r"-v?\d+:\d+$|[:-]latest$|[-@]20\d\d-?\d\d-?\d\d$|\.gguf$")
"""What is behind a name and does not say which model it is: a version of the service, a date, a kind of file."""


def name_of(spec: Served) -> str:
    """What says which model `spec` is: in lower case, without whoever serves it."""
    name = spec.name if spec.provider == "recorded" else name_paid_for(spec)
    return name.casefold().rstrip("/").rpartition("/")[2]


def identity(spec: Served) -> str:
    """The same for one model wherever it is served: `us.anthropic.claude-opus-4-5-20251101-v1:0` and
    `anthropic/claude-opus-4.5` alike."""
    return _identity(name_of(spec))


@functools.lru_cache(maxsize=4096)
def _identity(name: str) -> str:
    while (shorter := _LATER.sub("", name)) not in (name, ""):
        name = shorter.rstrip("-")
    maker = next((match for _, pattern in _MAKERS if (match := _search(pattern, name))), None)
    # What stands before the maker's word is a region or the maker's own name, as Bedrock has it.
    start = maker.start() if maker and name[: maker.start()].endswith(".") else 0
    return re.sub(r"(?<=\d)\.(?=\d)", "-", name[start:])


def maker_of(spec: Served) -> str:
    """Who made the model; where its name does not tell, whoever it is named after or serves it."""
    name = name_of(spec)
    known = next((maker for maker, pattern in _MAKERS if _search(pattern, name)), "")
    if known:
        return known
    owner = name_paid_for(spec).rpartition("/")[0].rpartition("/")[2]
    if owner and spec.provider != "embedded":
        return owner
    host = host_for(spec)
    return host.title if host else spec.name


def thinks(spec: ModelSpec) -> bool:
    """Whether it is given room to think, as far as its name and its settings tell."""
    if spec.thinking_tokens > 0 or "-thinking" in name_of(spec):
        return True
    family = family_of(name_of(spec))
    return spec.effort != "none" if spec.effort else family.thinks and family.thinking != "none"


def effort_of(spec: ModelSpec) -> str:
    """How hard it is to think: its setting, or the end of its name, as in `o3-mini-high`."""
    said = re.search(r"-(minimal|low|medium|high|xhigh)(?![a-z])", name_of(spec))
    return spec.effort or (said[1] if said else "")


def is_called(spec: Served, pattern: str) -> bool:
    """Whether `pattern` fits the beginning of any word of its name."""
    return _search(pattern, name_of(spec)) is not None


def _search(pattern: str, name: str) -> re.Match[str] | None:
    return re.search(f"(?<![a-z0-9])(?:{pattern})", name)
