"""The process that does the measuring: one question after the other on its pipes.

`python -m services.dispatch.jail.cell`. A question is four bytes of length and a JSON object; the answer is one line.
Whatever exceeds the bound ends the process, which its parent takes for an answer.
"""

import json
import resource
import signal
import sys
from pathlib import Path

from services.dispatch.rules import schema_check
from services.dispatch.rules.schema_check import Verdict

LENGTH_BYTES = 4

_CPU_SECONDS = 1.0
_MEMORY_BYTES = 64 * 1024 * 1024
"""What one reply may cost. Decision 25."""


def serve() -> None:
    """Answers until the pipe is closed."""
    _bound_memory()
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(header := questions.read(LENGTH_BYTES)) == LENGTH_BYTES:
        question = questions.read(int.from_bytes(header))
        # SIGPROF ends the process, also inside the validator's own code, and counts processor time: a busy machine is
        # no reason to refuse
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        verdict = _verdict(question)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(f"{verdict}\n".encode())
        answers.flush()


def _verdict(question: bytes) -> Verdict:
    try:
        asked = json.loads(question)
        if "schema" in asked:
            return schema_check.matches(asked["content"], asked["schema"])
        return schema_check.is_object(asked["content"])
    except (MemoryError, RecursionError):
        return Verdict.UNCOMPILABLE


def _bound_memory() -> None:
    """Lets the address space grow by the bound, over what the process has when it is ready.

    Not possible everywhere: then time alone bounds.
    """
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        ready = int(sizes.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (ready + _MEMORY_BYTES, ready + _MEMORY_BYTES))


if __name__ == "__main__":
    serve()
