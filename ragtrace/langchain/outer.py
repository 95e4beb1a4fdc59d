"""What a retriever around another one must keep, so that nobody notices it."""

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import patch_config
from typing_extensions import override


class OuterRetriever(BaseRetriever):
    """Run as a retriever of its own around `base_retriever`, any `Runnable` that finds documents.

    Configuration and keywords reach the inner one as they are (LangChain's own compound retrievers
    lose `configurable` on the way). Attributes that only the inner one has are read and set there.
    """

    base_retriever: Runnable[Any, Any]

    def __init__(self, base_retriever: Runnable[Any, Any], **fields: Any) -> None:
        if not isinstance(base_retriever, Runnable):
            raise ValueError(
                f"base_retriever is a {type(base_retriever).__name__}: expected a LangChain "
                "retriever or another Runnable (wrap a function in RunnableLambda)"
            )
        fields["base_retriever"] = base_retriever
        super().__init__(**fields)

    @override
    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Find documents."""
        return super().invoke(input, config, outer_config=config, **kwargs)

    @override
    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Find documents by the inner retriever's own asynchronous method."""
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        outer_config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        documents: list[Document] = self.base_retriever.invoke(query, config, **kwargs)
        return documents

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        outer_config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        documents: list[Document] = await self.base_retriever.ainvoke(query, config, **kwargs)
        return documents

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        # The store and the embedding model, which other tracers report, are the inner one's.
        kwargs.pop("outer_config", None)
        if isinstance(self.base_retriever, BaseRetriever):
            return self.base_retriever._get_ls_params(**kwargs)
        return super()._get_ls_params(**kwargs)

    def __getattr__(self, name: str) -> Any:
        base = self.__dict__.get("base_retriever")
        if base is None or name.startswith("_"):
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it from mypy
        return getattr(base, name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = name.startswith("_") or name in type(self).model_fields
        if own or not hasattr(self.base_retriever, name):
            super().__setattr__(name, value)
        else:
            setattr(self.base_retriever, name, value)
