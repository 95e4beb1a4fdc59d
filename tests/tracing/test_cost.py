"""What tracing may cost, as ratios measured side by side on one machine."""

from pathlib import Path

from benchmarks.tracing import measure_reading, measure_writing


def test_a_traced_call_costs_at_most_three_times_json_dumps(tmp_path: Path) -> None:
    # The best of three: another process may disturb any one of them.
    runs = [measure_writing(tmp_path, 500) for _ in range(3)]
    assert min(run["traced call / json.dumps (at most 3)"] for run in runs) <= 3
    # 5 µs where json.dumps of ten hits takes 26.
    assert (
        min(
            run["sampled out, p50 µs (at most 5)"] / run["json.dumps of the record, µs"]
            for run in runs
        )
        <= 0.25
    )


def test_reading_is_at_least_half_as_fast_as_bare_decoding_and_small(tmp_path: Path) -> None:
    figures = measure_reading(tmp_path, 2_000)
    assert figures["read_traces / bare speed (at least 0.5)"] >= 0.5
    assert figures["memory of the reading process, MB (at most 100)"] <= 100
