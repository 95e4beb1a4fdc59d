"""`ragtrace eval label`: find what answers a question, and mark it, in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragtrace.cli.options import ChunksOption

if TYPE_CHECKING:
    from ragtrace.cli.marking import Corpus
    from ragtrace.evaluation import GoldSpan, Question

HELP = """\
  2              mark passage 2 whole, but for the headings it begins with
  2 14-16        mark these lines of its document
  2 Retries wait … gives up.   mark from these first to these last words
  /other words   search for something else
  m              show more passages
  u              take the last mark back
  Enter          go on to the next question
  q              stop; what was marked is in the file"""


def label_command(
    eval_set: Annotated[Path, typer.Argument(help="Questions, JSON or JSONL; labels go in here.")],
    chunks: ChunksOption = None,
    documents: Annotated[
        list[str] | None,
        typer.Option("--documents", help="Or the documents: a folder, files, a glob; repeatable."),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", "-q", help="Questions that hold this text, labelled or not."),
    ] = None,
    hits: Annotated[int, typer.Option(help="Passages to show at once.", min=1)] = 3,
) -> None:
    """Search the corpus for each question without a label and mark the passage that answers it.

    Every mark is written at once. Stop whenever you like; the next call goes on with what is left.
    """
    from ragtrace.cli.marking import read_corpus
    from ragtrace.evaluation import load_eval_set
    from ragtrace.evaluation.labelling import check_writable

    check_writable(eval_set)
    questions = load_eval_set(eval_set)
    if question is None:
        waiting = [one for one in questions if not one.gold]
    else:
        waiting = [one for one in questions if question.casefold() in one.query.casefold()]
    if not waiting:
        held = f"no question of {eval_set} holds {question!r}"
        typer.echo(f"every question of {eval_set} has a label" if question is None else held)
        return
    corpus = read_corpus(chunks, documents or ())
    marked = 0
    typer.echo(f"{len(waiting)} of {len(questions)} questions to label; ? says what can be typed")
    try:
        for number, one in enumerate(waiting, 1):
            typer.echo(f"\n[{number}/{len(waiting)}] {one.query}")
            session = Session(eval_set, one, corpus, hits)
            try:
                if not session.run():
                    break
            finally:
                marked += len(session.marks)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo()  # the end of the input or Ctrl-C: everything marked is in the file already
    left = len(load_eval_set(eval_set).unlabelled)
    typer.echo(f"{marked} labels written to {eval_set}; {left} questions have none")


class Session:
    """The dialogue about one question; `marks` are the labels it wrote."""

    def __init__(self, path: Path, question: "Question", corpus: "Corpus", size: int) -> None:
        self.path = path
        self.question = question
        self.corpus = corpus
        self.size = size
        self.marks: list[GoldSpan] = []
        self.query = question.query
        self.shown = 0

    def run(self) -> bool:
        """Answer until the question is left; tell whether to go on with the next."""
        self.show_more()
        while True:
            typed = typer.prompt(">", prompt_suffix=" ", default="", show_default=False).strip()
            if not typed:
                return True
            if typed == "q":
                return False
            try:
                self.answer(typed)
            except ValueError as error:
                typer.echo(f"{error}")

    def answer(self, typed: str) -> None:
        """Do what was typed. Raises `ValueError` saying why it cannot be done."""
        number, _, rest = typed.partition(" ")
        if typed == "?":
            typer.echo(HELP)
        elif typed == "m":
            self.show_more()
        elif typed == "u":
            self.take_back()
        elif typed.startswith("/") and typed[1:].strip():
            self.query, self.shown = typed[1:].strip(), 0
            self.show_more()
        elif number.isdecimal() and 1 <= int(number) <= self.shown:
            self.mark(int(number), rest.strip())
        elif number.isdecimal():
            raise ValueError(f"there is no passage {number} on the screen: 1 to {self.shown}, or m")
        else:
            raise ValueError(f"{typed!r} means nothing here; ? says what can be typed")

    def show_more(self) -> None:
        """Show the next passages for the query."""
        found = self.corpus.search(self.query, self.shown + self.size)
        new = found[self.shown :]
        for number, passage in enumerate(new, self.shown + 1):
            typer.echo(f"\n{number}. {passage.title}\n{passage.numbered()}")
        if not new:
            more = "no more passages share" if self.shown else "no passage shares"
            typer.echo(f"{more} a word with {self.query!r}; /other words searches again")
        self.shown = len(found)

    def mark(self, number: int, place: str) -> None:
        """Write a label for a passage, or for the place in its document."""
        from ragtrace.evaluation.labelling import add_label

        passage = self.corpus.search(self.query, number)[number - 1]
        label = passage.label(place)
        if label in (*self.question.gold, *self.marks):
            raise ValueError("this is marked already")
        add_label(self.path, self.question.question_id, label)
        self.marks.append(label)
        typer.echo(f"marked in {label.doc_id}: {shortened(label.quote or '')}")

    def take_back(self) -> None:
        """Remove the last label that was written here."""
        from ragtrace.evaluation.labelling import remove_label

        if not self.marks:
            raise ValueError("nothing was marked for this question yet")
        remove_label(self.path, self.question.question_id, self.marks[-1])
        typer.echo(f"taken back: {shortened(self.marks.pop().quote or '')}")


def shortened(text: str) -> str:
    """Write a passage on one line, its middle left out if it is long.

    >>> shortened("one  two three")
    '"one two three"'
    """
    words: Sequence[str] = text.split()
    if len(words) > 16:
        words = (*words[:8], "…", *words[-8:])
    return f'"{" ".join(words)}"'
