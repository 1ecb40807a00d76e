"""Prints what the judge says of every attack and every neighbour today.

Run:  python -m tests.evidence.attacks [WORD ...]

Rows whose group or name holds one of the words are shown; all without any.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "fixtures"), str(HERE.parents[2])]

from attacks.rows import Judgement, Neighbour, is_acceptable, judge  # noqa: E402
from attacks.tables import ATTACKS, NEIGHBOURS  # noqa: E402


def main(words: list[str]) -> int:
    """Prints the table; returns 1 if a row is judged wrongly."""
    wrong: dict[bool, list[str]] = {True: [], False: []}
    count = {True: 0, False: 0}
    for group, row in (*ATTACKS, *NEIGHBOURS):
        name = f"{group}.{row.name}"
        if words and not any(word in name for word in words):
            continue
        start, honest = time.process_time(), isinstance(row, Neighbour)
        try:
            said = judge(row)
        except Exception as error:
            said = Judgement(f"CRASH {error!r}", False)
        right = said.passed if honest else is_acceptable(row, said)
        took = time.process_time() - start
        count[honest] += 1
        if not right:
            wrong[honest].append(name)
        text = "; ".join(" ".join(part.split()) for part in (said.verdict, *said.notes))
        print(f"{'ok   ' if right else 'WRONG'} {took:5.2f} s  {name:58} {text[:150]}")
    for honest, what in ((False, "attacks"), (True, "neighbours")):
        print(f"{len(wrong[honest])} of {count[honest]} {what} judged wrongly")
        print("".join(f"  {name}\n" for name in wrong[honest]), end="")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
