"""What is no idea at all, and what only looks like none."""

import pytest

from core.scoring.mechanical import mechanical_fault

QUESTION = "Propose a way to see a single vortex in a superconducting film."

EARLIER = [
    "Scan a nitrogen-vacancy tip over the film at 4 K and read the stray field of each vortex.",
    "Cool a cloud of ions above the film and watch how each vortex bends their paths.",
]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("  \n ... — !", "empty"),
        ("👍👍👍", "empty"),
        ("<answer>Scan it with light.</answer>", "literal tags"),
        ("Scan it with light.<|im_end|>", "literal tags"),
        ("</think> Scan it with light.", "literal tags"),
        ("Scan it with a beam < Answer >", "literal tags"),
        ("Use the light, use the light, use the light, use the light.", "looping text"),
        ("no no no no no no", "looping text"),
        (" ".join(f"word{n}" for n in range(200)) + " and so on" * 30, "looping text"),
        ("Propose a way to see a single vortex in a superconducting film.", "echo of the question"),
        ("PROPOSE a way to see one single vortex, in a superconducting film!", "echo of the question"),
        (EARLIER[0], f"echo of an earlier idea: {' '.join(EARLIER[0].lower().replace('-', ' ').split())[:60]}"),
        (
            "Cool a cloud of ions above the film, and watch how each vortex bends the paths.",
            "echo of an earlier idea: cool a cloud of ions above the film and watch how each vorte",
        ),
    ],
)
def test_found(text: str, fault: str) -> None:
    assert mechanical_fault(text, QUESTION, EARLIER) == fault


@pytest.mark.parametrize(
    "idea",
    [
        "Scan a squid-on-tip over the film at 4 K while a picosecond pulse kicks the vortices out of their pins.",
        "NMR.",
        "Use muons.",
        # Parallel structure, lists and numbers.
        "Measure at 10 K, at 20 K, at 30 K, at 40 K, at 50 K and at 60 K, and compare the six maps.",
        "Image the core of the vortex, the edge of the vortex, the wake of the vortex and the field of the vortex.",
        "First grow the film; second, cut a strip; third, cool the strip; fourth, drive a current; fifth, listen.",
        "Dope with Li, Na, K, Rb, Cs, Be, Mg, Ca, Sr, Ba, Sc, Y, La, Ti, Zr, Hf, V, Nb, Ta, Cr, Mo and W in turn.",
        " ".join(
            f"{n}. Tune knob {chr(96 + n)} to {n * 7} mT and note how vortex {n * 3} moves;" for n in range(1, 26)
        ),
        "For n = 1, 2, 3: cool to T_n, sweep B from -B_n to +B_n, and fit I(x) = I_0 exp(-x / λ_n).",
        # Signs that tags are made of.
        "Bias the film so that input < output, and keep the ratio > 3 while a laser writes vortices.",
        "Read out the |0> and |1> states of a qubit <10 nm above the film; idea: <x²> grows with each vortex.",
        "Let the model think of response times <thinking of it as noise> and average.",
        # Words of the question, as any idea has them.
        "See a single vortex in a superconducting film by coating it with magnetic bacteria that gather at its core.",
        # Other scripts, with and without spaces.
        "用氮空位色心探针扫描超导薄膜，读出每个涡旋产生的微弱杂散磁场，并与模拟结果比较。",
        "超伝導薄膜の上に磁性細菌を撒き、渦糸の芯に集まる様子を顕微鏡で観察する。",
        "초전도 박막 위에 자성 세균을 뿌려 소용돌이 중심에 모이는 모습을 관찰한다.",
        "ใช้แบคทีเรียแม่เหล็กโรยบนฟิล์มตัวนำยิ่งยวดแล้วดูว่ามันรวมตัวที่แกนของกระแสวน",
        "צפו בחיידקים מגנטיים המתאספים סביב ליבת המערבולת בשכבה מוליכת־על.",
        "अतिचालक फिल्म पर चुंबकीय जीवाणु छिड़ककर देखें कि वे भंवर के केंद्र पर कैसे इकट्ठा होते हैं।",
    ],
)
def test_a_real_idea_is_not_flagged(idea: str) -> None:
    assert mechanical_fault(idea, QUESTION, EARLIER) is None


def test_another_idea_with_the_same_opening_is_no_echo() -> None:
    idea = "Scan a nitrogen-vacancy tip over the film at 4 K and let it melt one vortex at a time with a spark."
    assert mechanical_fault(idea, QUESTION, EARLIER) is None


def test_an_echo_is_an_echo_in_any_script() -> None:
    idea = "用氮空位色心探针扫描超导薄膜，读出每个涡旋产生的微弱杂散磁场。"
    assert mechanical_fault(idea + " ", QUESTION, [idea]) == f"echo of an earlier idea: {idea[:-1].replace('，', ' ')}"


def test_a_loop_at_the_end_of_a_long_good_text_is_found() -> None:
    good = " ".join(f"word{number}" for number in range(1000))
    assert mechanical_fault(good, QUESTION, []) is None
    assert mechanical_fault(good + " over and over again" * 15, QUESTION, []) == "looping text"


def test_tags_come_before_loops_and_loops_before_echoes() -> None:
    looping = "again and again and again and again and again"
    assert mechanical_fault(f"<idea>{looping}", looping, [looping]) == "literal tags"
    assert mechanical_fault(looping, looping, [looping]) == "looping text"
    assert mechanical_fault(QUESTION, QUESTION, [QUESTION]) == "echo of the question"
