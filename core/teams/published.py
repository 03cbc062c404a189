"""How single models did in the published benchmark (`data/published.toml`)."""

import functools
import tomllib
from importlib.resources import files
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from core.models import ModelSpec
from core.teams.profiles import Profile, Tally
from core.teams.vendors import effort_of, is_called, thinks


class PublishedModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model's figures. The keys are explained in `data/published.toml`."""

    name: str
    total: Annotated[int, Meta(ge=1)]
    match: str
    like: str = ""
    efforts: tuple[str, ...] = ()
    thinks: bool = False
    questions: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()

    def fits(self, spec: ModelSpec, pattern: str) -> bool:
        return (
            bool(pattern)
            and is_called(spec, pattern)
            and (not self.efforts or effort_of(spec) in self.efforts)
            and (not self.thinks or thinks(spec))
        )

    @property
    def profile(self) -> Profile:
        """Its runs by leaf; of a model without figures by leaf, the total over as many questions as there are."""
        if not self.means:
            return Profile(elsewhere=Tally(runs=sum(_data().questions), finished=self.total))
        questions = self.questions or _data().questions
        figures = zip(_data().leaves, questions, self.means, self.deviations, strict=True)
        return Profile(
            {
                leaf: Tally(runs=count, finished=count * mean, squares=(count - 1) * deviation**2 + count * mean**2)
                for leaf, count, mean, deviation in figures
            }
        )


class Likeness(Struct, frozen=True):
    """Whose figures stand for a model."""

    model: PublishedModel
    itself: bool
    """Or only one of its kind."""


class _Published(Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    leaves: tuple[str, ...]
    questions: tuple[int, ...]
    models: tuple[PublishedModel, ...]


def published_models() -> tuple[PublishedModel, ...]:
    return _data().models


def published_source() -> str:
    """Where the figures are from, in words."""
    return _data().source


def published(spec: ModelSpec) -> Likeness | None:
    """The figures of `spec` itself, else of one of its kind; None if there are none."""
    models = published_models()
    if itself := next((model for model in models if model.fits(spec, model.match)), None):
        return Likeness(itself, itself=True)
    if kin := next((model for model in models if model.fits(spec, model.like)), None):
        return Likeness(kin, itself=False)
    return None


@functools.cache
def _data() -> _Published:
    return msgspec.convert(tomllib.loads(files("data").joinpath("published.toml").read_text("utf-8")), _Published)
