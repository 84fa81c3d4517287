"""Words that are written as names are: "LiftQuant", "R2M", "DS-TS", "GPT-4.1", "Overcooked"."""

import re

TOKEN = re.compile(r"[^\W_][\w+’'-]*(?:[./][^\W_][\w-]*)*")

FIELD_ABBREVIATIONS = frozenset(
    "ai api apis ar cnn cnns cot cpu cpus cv dl dna dnn dnns gan gans gnn gnns gpu gpus icml iclr id json kv llm "
    "llms lm lms lora mcp mdp mdps ml mllm mllms nlp ode odes ok pde pdes pdf ptq qa rag rl rlhf rlvr rna rnn "
    "rnns sft sgd sota sql svd tv uk us usa vae vaes vlm vlms vq".split()
)
"""Abbreviations of the whole field, never the name of one system."""


def looks_like_name(token: str) -> bool:
    """Whether there is a capital letter or a digit inside `token`, besides the capital a sentence starts with."""
    parts = token.split("-")
    if len(parts) > 1:
        if all(part.islower() or part.lower() in FIELD_ABBREVIATIONS for part in parts):
            return False  # "AI-written"
        numbered = parts[0][:1].isupper() and any(part.isdigit() for part in parts[1:])  # "Mem-0"
        return numbered or any(looks_like_name(part) for part in parts)
    letters = [char for char in token if char.isalpha()]
    if len(token) < 2 or not any(char.isupper() for char in letters):
        return False
    return any(char.isupper() for char in letters[1:]) or any(char.isdigit() for char in token)


def names_in(text: str) -> list[str]:
    """The names in `text`, in order, each once: name-like words, and capitalised words inside a sentence."""
    found: dict[str, None] = {}
    for match in TOKEN.finditer(text):
        token = re.sub(r"['’]s$", "", match.group()).rstrip("'’-")
        inside_sentence = match.start() > 0 and text[max(0, match.start() - 5) : match.start()].rstrip()[-1:] not in (
            ".",
            "?",
            "!",
            ":",
            "“",
            '"',
            "",
        )
        first = token.split("-")[0]
        capitalised = inside_sentence and len(first) > 2 and first[0].isupper()
        if token.lower() not in FIELD_ABBREVIATIONS and (looks_like_name(token) or capitalised):
            found[token] = None
    return list(found)
