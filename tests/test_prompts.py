import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts import Prompt, load_prompt


def test_the_prompts_have_the_variables_that_the_code_gives_them() -> None:
    assert load_prompt("answer_rules", "boundary").variables == {"boundary"}
    assert load_prompt("answer_question", "sources", "question").variables == {"sources", "question"}
    assert load_prompt("standalone_question", "conversation", "question").variables == {"conversation", "question"}
    assert load_prompt("check_sentence", "boundary", "quotation", "sentence").text.endswith("YES or NO.")


def test_a_variable_too_many_or_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="boundary"):
        load_prompt("answer_rules")
    prompt = Prompt("p", "Say {{a}} and {{b}}.")
    for values in ({"a": "1"}, {"a": "1", "b": "2", "c": "3"}):
        with pytest.raises(ValueError, match="variables"):
            prompt.render(**values)


@given(st.text(alphabet=st.sampled_from("{}ab%$\\ "), max_size=30), st.text(max_size=30))
def test_values_are_data_and_come_out_as_they_went_in(first: str, second: str) -> None:
    assert Prompt("p", "<{{a}}|{{b}}>").render(a=first, b=second) == f"<{first}|{second}>"
