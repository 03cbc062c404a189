"""What is asked of a model in each style, and what is read out of its answer."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models import Prompt, Style
from core.prompts import concepts, idea_prompt, read_idea

STYLES: tuple[Style, ...] = get_args(Style)
QUESTION = "Propose a way to weigh a single virus in air."
IDEAS = ("Hang it from a carbon nanotube and read the pitch.", "Let it fall through a laser fringe.")
BEGUN = Prompt(messages=(), stop=("\n",))


def sent(prompt: Prompt) -> str:
    return "\n".join(message.text for message in prompt.messages)


@pytest.mark.parametrize("style", STYLES)
def test_the_question_and_every_shown_idea_are_in_the_prompt_in_order(style: Style) -> None:
    text = sent(idea_prompt(QUESTION, IDEAS, style=style, concept="squeezed light"))
    assert QUESTION in text
    assert text.index(IDEAS[0]) < text.index(IDEAS[1])


@pytest.mark.parametrize("style", STYLES)
def test_the_first_prompt_shows_no_ideas(style: Style) -> None:
    prompt = idea_prompt(QUESTION, [], style=style, concept="squeezed light")
    assert QUESTION in sent(prompt)
    assert "already given" not in sent(prompt)


@pytest.mark.parametrize("style", STYLES)
def test_a_persona_is_a_way_of_thinking_told_to_the_model(style: Style) -> None:
    persona = "a chemist who thinks in rates"
    with_persona = idea_prompt(QUESTION, IDEAS, style=style, persona=persona, concept="cilia")
    assert persona in sent(with_persona)
    assert persona not in sent(idea_prompt(QUESTION, IDEAS, style=style, concept="cilia"))


@pytest.mark.parametrize("style", STYLES)
def test_a_system_message_is_always_ours_since_templates_fill_in_one_with_the_models_name(style: Style) -> None:
    assert idea_prompt(QUESTION, [], style=style, concept="cilia").messages[0].role == "system"


def test_a_list_ends_in_the_number_of_the_next_idea() -> None:
    prompt = idea_prompt(QUESTION, IDEAS, style="list")
    assert prompt.messages[-1].role == "assistant"
    assert prompt.messages[-1].text == f"1. {IDEAS[0]}\n2. {IDEAS[1]}\n3."
    assert prompt.stop == ("\n",)
    assert prompt.lead == ""


def test_a_list_grows_at_its_end_only_so_that_what_was_worked_out_stays() -> None:
    shorter, longer = (idea_prompt(QUESTION, IDEAS[:count], style="list") for count in (1, 2))
    assert longer.messages[:-1] == shorter.messages[:-1]
    assert longer.messages[-1].text.startswith(shorter.messages[-1].text)


def test_turns_alternate_and_end_with_a_request() -> None:
    roles = [message.role for message in idea_prompt(QUESTION, IDEAS, style="turns").messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


def test_an_idea_from_a_concept_begins_with_it() -> None:
    prompt = idea_prompt(QUESTION, IDEAS, style="concept", concept="squeezed light")
    assert "squeezed light" in prompt.lead
    assert prompt.messages[-1].text.endswith(prompt.lead)
    idea = read_idea(prompt, " split the beam and weigh the shift.\n")
    assert idea == f"{prompt.lead} split the beam and weigh the shift."


def test_a_concept_matters_to_its_own_style_alone() -> None:
    assert "squeezed light" not in sent(idea_prompt(QUESTION, IDEAS, style="list", concept="squeezed light"))


def test_the_concept_style_without_a_concept_is_a_plain_list() -> None:
    assert idea_prompt(QUESTION, IDEAS, style="concept") == idea_prompt(QUESTION, IDEAS, style="list")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", ["a\n7. b", "a\r\n\r\nb", "a\u2028b", "a\n\n\n- b"])
def test_no_idea_or_question_breaks_out_of_its_line(style: Style, text: str) -> None:
    lines = idea_prompt(QUESTION, ["x"], style=style, concept="cilia")
    broken = idea_prompt(text, [text], style=style, concept="cilia")
    assert sent(broken).count("\n") == sent(lines).count("\n")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "</s>", "<think>", "<start_of_turn>", "[INST]", "[/INST]"]
)
def test_tokens_of_a_chat_format_are_plain_text_in_a_prompt(style: Style, token: str) -> None:
    dirty = f"one {token}system two"
    prompt = idea_prompt(dirty, [dirty], style=style, persona=dirty, concept=dirty)
    assert token not in sent(prompt)
    assert token not in prompt.lead


def test_mathematics_and_markup_are_left_alone() -> None:
    text = "If a<b and c>d, is x < y? See [1] and a[i], 5 <6>."
    assert text in sent(idea_prompt(text, [], style="list"))


@pytest.mark.parametrize(
    ("answer", "idea"),
    [
        (" Cool it with light.", "Cool it with light."),
        ("3. Cool it.\n4. Heat it.", "Cool it."),
        ("(3) Cool it.", "Cool it."),
        ("- Cool it.\n- Heat it.", "Cool it."),
        ("* **Cool** it.", "Cool it."),
        ("**Idea 3:** Cool it.", "Cool it."),
        ("Here is another idea:\n\n1. Cool it.\n2. Heat it.", "Cool it."),
        ('"Cool it."', "Cool it."),
        ("“Cool it.”", "Cool it."),
        ("'Tis 'cold'", "'Tis 'cold'"),
        ("<answer>Cool it.</answer>", "Cool it."),
        ("<answer>\nCool it.\n", "Cool it."),
        ("<think>hm\nhm</think>Cool it.", "Cool it."),
        ("Cool it.<|im_end|>\n<|im_start|>user", "Cool it."),
        ("Cool it\nslowly,\twith  care.", "Cool it slowly, with care."),
        ("3.5 tesla magnets hold it.", "3.5 tesla magnets hold it."),
        ("2D crystals hold it.", "2D crystals hold it."),
        ("Cool it.\n\nIt works because heat flows.", "Cool it. It works because heat flows."),
        ("Say \x1b[31mred\x07.", "Say [31mred."),
        ("", ""),
        (" \n\t", ""),
        ("7.", ""),
        ('""', ""),
        ("<answer></answer>", ""),
        ("<think>endless", ""),
    ],
)
def test_an_answer_is_read_as_one_idea_without_its_marks(answer: str, idea: str) -> None:
    assert read_idea(BEGUN, answer) == idea


def test_a_lead_without_anything_after_it_is_no_idea() -> None:
    prompt = idea_prompt(QUESTION, IDEAS, style="concept", concept="cilia")
    assert read_idea(prompt, " \n") == ""


@given(st.text(), st.sampled_from(STYLES))
def test_any_answer_is_read_as_one_clean_line(answer: str, style: Style) -> None:
    idea = read_idea(idea_prompt(QUESTION, IDEAS, style=style, concept="cilia"), answer)
    assert idea == " ".join(idea.split())
    assert idea.isprintable() or not idea.isascii()


@given(st.text(max_size=200), st.lists(st.text(max_size=80), max_size=4), st.sampled_from(STYLES))
def test_any_question_and_ideas_make_a_prompt(question: str, shown: list[str], style: Style) -> None:
    prompt = idea_prompt(question, shown, style=style, concept="cilia")
    assert prompt == idea_prompt(question, shown, style=style, concept="cilia")
    sent(prompt).encode()


def test_there_are_enough_concepts_each_short_and_said_once() -> None:
    assert len(concepts()) >= 60
    assert len(set(concepts())) == len(concepts())
    assert all(1 <= len(concept.split()) <= 5 for concept in concepts())
