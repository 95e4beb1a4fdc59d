"""Tables that a cut leaves without their header, or in the middle of a row."""

from ragtrace.boundary.shapes import DELIMITER_ROW, is_row

NO_HEADER = "starts with a table row: the header is in an earlier chunk"
IN_ROW = "starts inside a table row"


def starts_in_table(lines: list[str], before: str | None) -> str:
    """Say how a chunk's first lines belong to a table that began before it, `""` if they do not."""
    first = lines[0]
    if "|" not in first:
        return ""
    if DELIMITER_ROW.fullmatch(first):
        return "starts with the delimiter row of a table: its header is in an earlier chunk"
    second = lines[1] if len(lines) > 1 else ""
    last = None if before is None else before.rstrip().rsplit("\n", 1)[-1]
    if is_row(first):
        return "" if DELIMITER_ROW.fullmatch(second) else NO_HEADER
    if last is None:
        in_row = first.rstrip().endswith("|") and (not second.strip() or is_row(second))
        return IN_ROW if in_row else ""
    if DELIMITER_ROW.fullmatch(last):
        return NO_HEADER
    begins = _has_outer_bar(last) and not is_row(last)
    continues = is_row(last) and (_has_outer_bar(first) or first.rstrip().endswith("|"))
    return IN_ROW if begins or continues else ""


def ends_in_table(lines: list[str], after: str | None) -> str:
    """Say how a chunk's last lines belong to a table that goes on after it, `""` if they do not."""
    line = lines[-1]
    if "|" not in line:
        return ""
    following, joined = "", False
    if after:
        stripped = after.lstrip()
        joined = after[: len(after) - len(stripped)].count("\n") < 2
        following = stripped.split("\n", 1)[0]
    goes_on = joined and "|" in following
    if is_row(line):
        if goes_on and (is_row(following) or DELIMITER_ROW.fullmatch(following)):
            return "ends between two rows of a table"
        return "ends with the header of a table" if DELIMITER_ROW.fullmatch(line) else ""
    if DELIMITER_ROW.fullmatch(line):
        return "ends between two rows of a table" if goes_on else ""
    above = lines[-2] if len(lines) > 1 else ""
    in_table = is_row(above) or DELIMITER_ROW.fullmatch(above) or (after and "|" in following)
    return "ends inside a table row" if _has_outer_bar(line) and in_table else ""


def _has_outer_bar(line: str) -> bool:
    return line.lstrip(" >\t").startswith("|")
