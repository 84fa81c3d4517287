"""The prompts, one Markdown file each, and `load_prompt`, which checks their variables. Nothing else."""

import re
from dataclasses import dataclass
from importlib.resources import files

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Prompt:
    """A text with places for values, written `{{name}}`."""

    name: str
    text: str

    @property
    def variables(self) -> frozenset[str]:
        """The names of the places."""
        return frozenset(_VARIABLE.findall(self.text))

    def render(self, **values: str) -> str:
        """The text with the values in their places. Values are data: nothing in them is read as a place.

        Raises `ValueError` when a value is missing or has no place.
        """
        if values.keys() != self.variables:
            raise ValueError(f"Prompt {self.name!r} has the variables {sorted(self.variables)}, not {sorted(values)}.")
        return _VARIABLE.sub(lambda match: values[match[1]], self.text)


def load_prompt(name: str, *variables: str) -> Prompt:
    """The prompt of that name. Raises `ValueError` unless it has just these variables."""
    prompt = Prompt(name, files("prompts").joinpath(f"{name}.md").read_text("utf-8").strip())
    if prompt.variables != frozenset(variables):
        raise ValueError(f"Prompt {name!r} has the variables {sorted(prompt.variables)}, not {sorted(variables)}.")
    return prompt
