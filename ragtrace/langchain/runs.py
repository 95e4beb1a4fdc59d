"""Where a LangChain run stands: below which retrieval, and in which request."""

from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableConfig

from ragtrace.tracing import Call, InFlight


class Place(NamedTuple):
    """Hold the retrieval that a run is or is a part of, and the id of the whole request.

    `ours` says that the run is this very retrieval and that the handler has to end it.
    """

    call: Call | None
    trace_id: str
    ours: bool = False


class RunTracker(BaseCallbackHandler):
    """Follow chains and tools, so that a retriever inside them knows what it is part of."""

    # Without it every event of an asynchronous call would take a hop to another thread: the hop
    # costs more than a trace does, and its latency would be counted.
    run_inline = True

    def __init__(self) -> None:
        super().__init__()
        # A cancelled run has no end: the newest are kept, not all.
        self._runs: InFlight[Place] = InFlight()

    @property
    def ignore_llm(self) -> bool:
        """Say that models are of no interest."""
        return True

    ignore_chat_model = ignore_retry = ignore_custom_event = ignore_llm

    def place_of(self, run_id: UUID) -> Place | None:
        """Return where a run stands that is still going on."""
        return self._runs.get(run_id)

    def place_below(self, parent_run_id: UUID | None, run_id: UUID) -> Place:
        """Return where a new run stands."""
        parent = self._runs.get(parent_run_id) if parent_run_id else None
        if parent is None:
            return Place(None, (parent_run_id or run_id).hex)
        return parent._replace(ours=False)

    def on_chain_start(
        self, *args: Any, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Remember what a chain or tool is part of."""
        self._runs.put(run_id, self.place_below(parent_run_id, run_id))

    def on_chain_end(self, *args: Any, run_id: UUID, **kwargs: Any) -> None:
        """Forget it."""
        self._runs.pop(run_id)

    on_tool_start = on_chain_start
    on_chain_error = on_tool_end = on_tool_error = on_chain_end


def place_of(config: RunnableConfig) -> Place | None:
    """Return where a call with this full configuration stands, if one of its handlers can tell."""
    callbacks = config.get("callbacks")
    if isinstance(callbacks, BaseCallbackManager) and callbacks.parent_run_id is not None:
        for handler in callbacks.handlers:
            if isinstance(handler, RunTracker):
                return handler.place_of(callbacks.parent_run_id)
    return None
