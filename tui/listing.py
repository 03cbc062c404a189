"""What `questions`, `sessions` and `show` print."""

import click
import msgspec

from core.chain import Chain, Idea
from core.config import own_question_files, path_of, sessions_folder
from core.questions import QuestionBank, load_bank
from core.state import State
from core.store import library, listing
from core.text import clean_line, shown
from tui.words import END_WORDS, score_words, why_ended


def bank_with(question_files: tuple[str, ...]) -> QuestionBank:
    """The bank with a person's own files; what is wrong with them is said on standard error."""
    bank = load_bank([*own_question_files(), *map(path_of, question_files)])
    for problem in bank.problems:
        click.echo(f"jagstorm: {clean_line(problem)}", err=True)
    return bank


def list_questions(search: str, domain: str, question_files: tuple[str, ...], as_json: bool) -> None:
    found = bank_with(question_files).search(search, domain)
    if as_json:
        for question in found:
            click.echo(msgspec.json.encode(question))
        return
    leaf = None
    for question in found:
        if question.leaf != leaf:
            leaf = question.leaf
            click.echo(click.style(f"{leaf}", bold=True))
        click.echo(f"  {click.style(question.id, dim=True)}\n    {clean_line(question.text, 400)}")
    if not found:
        click.echo("No question fits. `jagstorm questions` lists them all.", err=True)


def list_sessions(sessions: str | None, as_json: bool) -> None:
    folder = sessions_folder(sessions)
    found = False
    for row in listing.summaries(folder):
        found = True
        if as_json:
            click.echo(listing.to_json(row))
        elif row.status == "damaged":
            click.echo(f"{clean_line(row.id)}  damaged: {clean_line(row.problem)}")
        else:
            why = f", {END_WORDS.get(row.reason, row.reason)}" if row.reason else ""
            click.echo(f"{click.style(clean_line(row.id), bold=True)}  {row.status}{why}")
            click.echo(f"    {row.valid} of {row.ideas} ideas pass  {row.team}  {clean_line(row.question, 120)}")
    if not found and not as_json:
        click.echo(
            f"No sessions in {shown(folder)} yet: begin one with `jagstorm run`, or `jagstorm` for the app.", err=True
        )


def show_session(sessions: str | None, session: str, as_json: bool) -> None:
    stored = library.load(library.find(sessions_folder(sessions), session))
    for problem in stored.record.problems:
        click.echo(f"jagstorm: {clean_line(problem)}", err=True)
    state = stored.state()
    if as_json:
        click.echo(msgspec.json.encode(_as_object(stored, state)))
        return
    for chain in state.chains.values():
        click.echo(click.style(chain.text, bold=True))
        click.echo()
        for idea in chain.ideas:
            _show_idea(idea)
        click.echo(why_ended(chain, state))
    if not state.chains:
        click.echo("This session has not begun: nothing is recorded in it.")
    click.echo(
        f"{stored.plan.team.name}, {state.t:.0f} s, {state.output_tokens:,} tokens written, {shown(stored.folder)}"
    )


def _show_idea(idea: Idea) -> None:
    head = f"{'×' if idea.failed else ' '}{idea.number:4}  "
    click.echo(click.style(head, dim=idea.failed) + clean_line(idea.text))
    click.echo(click.style(f"       {idea.author}, {score_words(idea)}", dim=True))


def _as_object(session: library.StoredSession, state: State) -> dict[str, object]:
    return {
        "id": shown(session.folder.name),
        "plan": session.plan,
        "status": listing.status(session.folder, state),
        "seconds": state.t,
        "input_tokens": state.input_tokens,
        "output_tokens": state.output_tokens,
        "cost": state.cost if state.cost_known else None,
        "problems": session.record.problems,
        "unknown_events": state.unknown,
        "questions": [_chain_object(chain) for chain in state.chains.values()],
    }


def _chain_object(chain: Chain) -> dict[str, object]:
    return {
        "question": chain.question,
        "text": chain.text,
        "domain": chain.domain,
        "subdomain": chain.subdomain,
        "ended": chain.ended,
        "responses": chain.responses,
        "valid": chain.valid,
        "ideas": chain.ideas,
    }
