"""What earlier sessions say of their members, and what weights and a router's table are made of it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from core import events as ev
from core.lines import EVENTS_FILE, encode
from core.models import YOU, Group, Member, ModelSpec, TeamSpec
from core.questions import LEAVES, Question
from core.store import library
from core.teams.profiles import Estimate, Profile, Tally, chances, in_leaf, levels, spread_of, usual_spread
from core.teams.published import published_models
from core.teams.results import Asked, EarlierSessions, Results
from core.teams.routes import key_of, leaf_profiles, route_table, routes_from
from core.teams.weights import weighed, weights
from tests.conftest import make_plan, scripted_team

PHYSICS, CHEMISTRY, BIOLOGY = "Physics / Synchrotron", "Chemistry", "Biology"


def runs(*lengths: int, cut_off: int = 0) -> Tally:
    return Tally(len(lengths), sum(lengths), sum(length**2 for length in lengths), cut_off)


def member(name: str, model: str = "", **settings: object) -> Member:
    return Member(name=name, model=ModelSpec(name=model or name, provider="openai", model=model or name), **settings)  # type: ignore[arg-type]


def results(**profiles: Profile) -> Results:
    """Of members called as their models, asked as `member` does."""
    return Results({Asked(name, style="list"): profile for name, profile in profiles.items()})


# ── sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Chain:
    """The log of a session with one question, written by hand."""

    def __init__(self, sessions: Path, name: str, team: TeamSpec, question: Question | None = None) -> None:
        question = question or Question("q", "Propose a way.", "Physics", "Synchrotron")
        self.log = library.create(sessions, replace(make_plan(team=team, question=question), id=name))
        self.question = question.id
        self.ideas = 0
        self.log.append(
            ev.QuestionStarted(
                question=question.id, text=question.text, domain=question.domain, subdomain=question.subdomain
            )
        )

    def say(self, author: str, verdicts: str) -> "Chain":
        """Ideas of `author`: `p`assed, `f`ailed, `u`nscored, or `.` without any score yet."""
        words: dict[str, ev.VerdictWord] = {"p": "passed", "f": "failed", "u": "unscored"}
        for letter in verdicts:
            self.ideas += 1
            self.log.append(
                ev.ProposalFinished(question=self.question, step=self.ideas, member=author, text="An idea.")
            )
            self.log.append(
                ev.IdeaAdded(question=self.question, idea=self.ideas, step=self.ideas, text="An idea.", author=author)
            )
            if letter in words:
                self.log.append(ev.IdeaScored(question=self.question, idea=self.ideas, verdict=words[letter]))
        return self

    def end(self) -> Path:
        self.log.close()
        return self.log.folder


PAIR = scripted_team("anna", "bert")


def profile_of(found: Results, name: str, team: TeamSpec = PAIR) -> Profile:
    return found.of(team.member(name))


def test_a_chain_that_its_one_author_failed_is_a_run_as_long_as_the_papers_score(sessions: Path) -> None:
    Chain(sessions, "a", scripted_team("anna", strategy="solo")).say("anna", "ppppf").end()
    found = EarlierSessions(sessions)()
    assert profile_of(found, "anna").leaves == {PHYSICS: runs(5)}
    assert profile_of(found, "anna").total.ideas == 5


def test_several_authors_have_runs_of_their_own_and_what_is_cut_off_counts_as_ideas(sessions: Path) -> None:
    Chain(sessions, "a", PAIR).say("anna", "pp").say("bert", "f").say("anna", "f").say(YOU, "pf").say(
        "anna", "upp"
    ).end()
    Chain(sessions, "b", PAIR, Question("c", "Suggest.", "Chemistry")).say("anna", "p.").end()
    found = EarlierSessions(sessions)()
    assert profile_of(found, "anna").leaves == {PHYSICS: runs(3, cut_off=3), CHEMISTRY: runs(cut_off=1)}
    assert profile_of(found, "bert").leaves == {PHYSICS: runs(1)}


def test_a_team_within_a_team_is_counted_by_its_members(sessions: Path) -> None:
    group = Group(name="pair", team=PAIR)
    team = TeamSpec(name="both", strategy="sample", members=(member("cleo"),), groups=(group,))
    Chain(sessions, "a", team).say("pair/anna", "pf").end()
    assert profile_of(EarlierSessions(sessions)(), "anna").leaves == {PHYSICS: runs(2)}


def test_a_team_that_took_over_is_known_too_and_a_name_of_two_is_nobodys(sessions: Path) -> None:
    chain = Chain(sessions, "a", PAIR).say("anna", "pf")
    other = scripted_team("cleo", "bert")
    bert = replace(other.members[1], model=replace(other.members[1].model, model="another", name="another"))
    chain.log.append(ev.TeamChanged(team=replace(other, members=(other.members[0], bert)), by=YOU))
    chain.say("cleo", "f").say("bert", "ppf").end()
    found = EarlierSessions(sessions)()
    assert profile_of(found, "anna").leaves == {PHYSICS: runs(2)}
    assert profile_of(found, "cleo", other).leaves == {PHYSICS: runs(1)}
    assert profile_of(found, "bert").leaves == {}


def test_who_speaks_from_records_has_written_nothing(sessions: Path) -> None:
    recorded = Member(name="anna", model=ModelSpec(name="o1", provider="recorded", model="file.json#o1"))
    Chain(sessions, "a", TeamSpec(name="t", members=(recorded,))).say("anna", "ppf").end()
    assert EarlierSessions(sessions)().profiles == {}


def test_a_member_is_a_model_and_how_it_is_asked(sessions: Path) -> None:
    list_style = member("a", "gpt-5")
    poet = member("b", "openai/gpt-5", persona="a poet")
    Chain(sessions, "a", TeamSpec(name="t", strategy="sample", members=(list_style, poet))).say("a", "pf").say(
        "b", "f"
    ).end()
    found = EarlierSessions(sessions)()
    assert found.of(list_style).total == runs(2)
    assert found.of(poet).total == runs(1)
    assert found.of(member("c", "gpt-5", persona="a critic")).total == runs(2, 1), "never asked so: as the model is"
    thinker = replace(list_style, model=replace(list_style.model, effort="high"))
    assert found.of(thinker).total == Tally(), "with another effort it is another model"


def test_what_is_damaged_foreign_or_the_example_is_passed_over(sessions: Path) -> None:
    folder = Chain(sessions, "a", PAIR).say("anna", "pf").end()
    with (folder / EVENTS_FILE).open("ab") as log:
        log.write(b'\xff\xfe damaged\n{"type":"comet_seen","seq":9}\n{"type":"idea_added"')
    Chain(sessions, "example", PAIR).say("anna", "pppf").end()
    (Chain(sessions, "b", PAIR).say("anna", "ppf").end() / "session.toml").write_text("no plan")
    (sessions / "notes").mkdir()
    assert profile_of(EarlierSessions(sessions)(), "anna").total == runs(2)


def test_no_sessions_are_no_results(tmp_path: Path) -> None:
    assert EarlierSessions(tmp_path / "nowhere")().profiles == {}
    (tmp_path / "file").write_text("")
    assert EarlierSessions(tmp_path / "file")().profiles == {}


def test_a_session_is_read_again_only_when_it_has_changed(sessions: Path) -> None:
    first = Chain(sessions, "a", PAIR).say("anna", "pf").end() / EVENTS_FILE
    second = Chain(sessions, "b", PAIR).say("anna", "ppf").end() / EVENTS_FILE
    earlier = EarlierSessions(sessions)
    assert profile_of(earlier(), "anna").total == runs(2, 3)
    before = first.stat()
    first.write_bytes(b"x" * before.st_size)
    os.utime(first, ns=(before.st_atime_ns, before.st_mtime_ns))
    with second.open("ab") as log:
        log.write(encode(ev.IdeaAdded(question="q", idea=9, step=9, text="x", author="anna")) + b"\n")
        log.write(encode(ev.IdeaScored(question="q", idea=9, verdict="failed")) + b"\n")
    assert profile_of(earlier(), "anna").total == runs(2, 3, 1)
    second.unlink()
    assert profile_of(earlier(), "anna").total == runs(2)


# ── what to expect ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_few_runs_say_little_and_many_say_it_all() -> None:
    few, many = Profile({CHEMISTRY: runs(30, 30)}), Profile({CHEMISTRY: runs(*[30] * 400)})
    average = Profile({CHEMISTRY: runs(*[10] * 400)})
    spread = usual_spread()
    assert 10 < levels([few, average], spread)[0].mean < 20
    assert levels([many, average], spread)[0].mean == pytest.approx(30, rel=0.02)


def test_a_leafs_mean_is_pulled_toward_the_models_own_by_n_over_n_and_k() -> None:
    spread = usual_spread()
    level = Estimate(20.0, 1.0, 100)
    seldom = in_leaf(Profile({CHEMISTRY: runs(40, 40)}), level, CHEMISTRY, spread)
    z = 2 / (2 + spread.k)
    assert seldom.mean == pytest.approx(z * 40 + (1 - z) * 20)
    nothing = in_leaf(Profile(), level, CHEMISTRY, spread)
    assert (nothing.mean, nothing.runs) == (20.0, 0)
    often = in_leaf(Profile({CHEMISTRY: runs(*[40] * 1000)}), level, CHEMISTRY, spread)
    assert often.mean == pytest.approx(40, rel=0.03)
    assert often.error < seldom.error < nothing.error


def test_never_having_failed_raises_what_is_expected_and_breaks_nothing() -> None:
    cut_off = Profile({CHEMISTRY: runs(cut_off=60)})
    usual = Profile({CHEMISTRY: runs(10, 10, 10)})
    best, other = levels([cut_off, usual], usual_spread())
    assert best.mean > other.mean
    assert levels([cut_off], usual_spread())[0].mean > 0


def test_the_published_spread_is_what_few_runs_of_ones_own_are_read_with() -> None:
    assert usual_spread().within == pytest.approx(0.773, abs=0.001)
    assert usual_spread().k == pytest.approx(32.2, abs=0.1)
    assert spread_of([Profile({CHEMISTRY: runs(3, 9, 2)})]) == usual_spread()
    assert spread_of([]) == usual_spread()


def test_leaves_that_differ_for_sure_are_believed_sooner() -> None:
    steady = Profile({CHEMISTRY: runs(*[40, 42] * 20), BIOLOGY: runs(*[5, 6] * 20)})
    assert spread_of([steady]).k == 1.0
    uneven = Profile({CHEMISTRY: runs(*[1, 60] * 20), BIOLOGY: runs(*[60, 1] * 20)})
    assert spread_of([uneven]).k == usual_spread().k, "no sign of a difference is no proof that there is none"


def test_chances_are_those_of_the_normal_distributions() -> None:
    assert chances([Estimate(10, 2), Estimate(10, 2)]) == pytest.approx([0.5, 0.5])
    # P(X > Y) = Φ(2 / √2) for errors of 1
    assert chances([Estimate(12, 1), Estimate(10, 1)])[0] == pytest.approx(0.9214, abs=0.001)
    assert chances([Estimate(5, 1)]) == [1.0]
    assert sum(chances([Estimate(mean, 3) for mean in range(24)])) == pytest.approx(1.0)
    assert chances([Estimate(1e6, 1), Estimate(1, 1)])[0] == pytest.approx(1.0)


# ── weights ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def values(places: Sequence[Member | Group], found: Results, given: Mapping[str, float] | None = None) -> list[object]:
    return [part for weight in weights(places, lambda: found, given) for part in (weight.value, weight.source)]


def test_given_weights_come_first_and_the_others_are_one() -> None:
    team = (member("o1"), member("x"))
    assert values(team, results(o1=Profile({BIOLOGY: runs(9)})), {"x": 3.0}) == [1.0, "beside", 3.0, "given"]


def test_published_totals_until_there_are_results_of_ones_own() -> None:
    team = (member("o1"), member("o3-mini"), member("gemini-4-argon"), member("x"))
    assert values(team, Results()) == [
        4485.0,
        "published",
        4726.0,
        "published",
        4613.0,
        "published",
        4610.0,
        "mean",
    ]
    own = {name: Profile({BIOLOGY: runs(*lengths)}) for name, lengths in (("o1", [4] * 50), ("x", [12] * 50))}
    assert values((member("o1"), member("x")), results(**own)) == [4.36, "own", 11.6, "own"]


def test_one_result_of_ones_own_does_not_outweigh_figures_of_all() -> None:
    team = (member("o1"), member("o3-mini"))
    found = results(o1=Profile({BIOLOGY: runs(2)}))
    assert values(team, found) == [4485.0, "published", 4726.0, "published"]


def test_of_nobody_anything_is_known() -> None:
    assert values((member("x"), member("y")), Results()) == [1.0, "alike", 1.0, "alike"]


def test_a_team_in_a_members_place_weighs_as_its_members() -> None:
    group = Group(name="g", team=TeamSpec(name="g", members=(member("o1"), member("o3-mini"))))
    assert values((member("o3-mini-low"), group), Results()) == [3436.0, "published", 4610.0, "published"]


def test_only_a_team_that_draws_by_weight_gets_weights() -> None:
    team = TeamSpec(name="t", strategy="sample", members=(member("o1"), member("o3-mini")))
    assert [each.weight for each in weighed(team, Results).members] == [4485.0, 4726.0]
    assert weighed(replace(team, strategy="parallel"), Results) == replace(team, strategy="parallel")


# ── routes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

FIVE = ("o3-mini-medium", "abacus-gemini-2-5-pro", "o1", "o3-mini-high", "claude-3.5")


def test_a_table_of_the_published_figures() -> None:
    table = route_table([member(name) for name in FIVE], Results)
    assert table.source == "published"
    assert [route.leaf for route in table.routes] == [*LEAVES, "*"]
    by_leaf = {route.leaf: route for route in table.routes}
    assert by_leaf["Chemistry"].member == "abacus-gemini-2-5-pro"
    assert by_leaf["Nanoscience"].member == "o3-mini-high"
    assert by_leaf["*"].member == "o3-mini-medium"
    assert by_leaf["Nanoscience"].runs == 32
    for route in table.routes:
        assert route.margin >= 0
        assert 1 / len(FIVE) < route.sure < 1
    # Neuroscience has five questions: what stands out there is mostly luck.
    assert by_leaf["Neuroscience"].sure < 0.35
    assert by_leaf["Neuroscience"].expected < 32


def test_shrinkage_takes_a_winner_of_a_handful_of_questions_down() -> None:
    steady, lucky = (
        Profile({CHEMISTRY: runs(*[20, 30] * 20), BIOLOGY: runs(30, 30)}),
        Profile({CHEMISTRY: runs(*[10, 14] * 20), BIOLOGY: runs(50, 20)}),
    )
    assert lucky.leaves[BIOLOGY].ideas > steady.leaves[BIOLOGY].ideas
    routes = {route.leaf: route for route in routes_from(["steady", "lucky"], [steady, lucky])}
    assert routes[BIOLOGY].member == "steady"


def test_results_of_ones_own_come_before_the_published_and_own_domains_are_leaves_too() -> None:
    team = TeamSpec(name="t", strategy="router", members=(member("o1"), member("o3-mini-high")))
    own = results(
        **{
            "o1": Profile({BIOLOGY: runs(*[30, 33] * 30), "Own": runs(*[3, 4] * 30)}),
            "o3-mini-high": Profile({BIOLOGY: runs(*[3, 4] * 30), "Own": runs(*[30, 33] * 30)}),
        }
    )
    # effort is read off the name
    own = Results(
        {replace(asked, effort="high" if "high" in asked.model else ""): p for asked, p in own.profiles.items()}
    )
    routes = route_table(team.places, lambda: own).as_spec
    assert (routes["Biology"], routes["Own"]) == ("o1", "o3-mini-high")
    assert routes.keys() == {key_of(leaf) for leaf in LEAVES} | {"Own", "*"}
    replace(team, routes=routes)  # it is one that a team takes


def test_nothing_known_is_an_empty_table() -> None:
    table = route_table([member("x"), member("y")], Results)
    assert (table.routes, table.as_spec) == ((), {})


def test_what_another_of_its_kind_is_good_at_a_model_need_not_be() -> None:
    source, profiles = leaf_profiles([member("o1"), member("gpt-6.1-sol")], Results())
    assert source == "published"
    assert profiles[0].leaves
    assert profiles[1] == Profile()


def test_all_published_models_at_once_are_quick_enough_to_do_at_every_start() -> None:
    places = [member(model.name) for model in published_models()]
    table = route_table(places, Results)
    assert len(table.routes) == 10
    assert table.as_spec["Synchrotron"] in {place.name for place in places}
