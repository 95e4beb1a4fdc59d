"""A process really killed in the middle of a sync leaves nothing that the next run misses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langchain_chroma")

# One process imports the store once and forks a child for each run; it never opens a store itself.
PROGRAM = """
import os, sys
from pathlib import Path
from langchain_chroma import Chroma
from langchain_core.embeddings import DeterministicFakeEmbedding
from ragtrace.boundary import read_store
from ragtrace.index import sync
from ragtrace.langchain.sync import VectorStoreTarget
from tests.index.stores import DELETED, EDITED, FIRST


class Dying(VectorStoreTarget):
    steps = 10**6

    def __getattribute__(self, name):
        if name in ("add", "update", "delete"):
            if self.steps == 0:
                os._exit(9)
            self.steps -= 1
        return super().__getattribute__(name)


def bring(folder, chunks, steps):
    embedder = DeterministicFakeEmbedding(size=8)
    target = Dying(Chroma("chunks", embedder, persist_directory=str(folder)))
    target.steps = steps
    sync(target, chunks, folder / "chunks.jsonl", batch_size=1)
    held = sorted(chunk["text"] for chunk in read_store(target.store))
    assert held == sorted(chunk.content for chunk in chunks), held


def in_a_child(*given):
    child = os.fork()
    if child == 0:
        try:
            bring(*given)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


killed = 0
for steps in range(int(sys.argv[2])):
    folder = Path(sys.argv[1]) / str(steps)
    assert in_a_child(folder, FIRST, 10**6) == 0
    ended = in_a_child(folder, EDITED, steps)
    assert ended in (0, 9)
    killed += ended == 9
    assert in_a_child(folder, DELETED, 10**6) == 0, steps
print(killed)
"""


@pytest.mark.stores
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
def test_a_sync_killed_at_any_step_is_finished_by_the_next_whatever_it_brings(
    tmp_path: Path,
) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path), "6"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 5, "no run was killed: the edit has fewer steps than thought"
