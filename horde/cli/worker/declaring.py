"""What a worker may declare: what its backend proves, and what its operator vouches for. Pure."""

from horde.cli.worker.backend import Proven
from horde.cli.worker.options import WorkerOptions
from horde.contract.limits import DEFAULT_CHAT_MAX_LENGTH, DEFAULT_CONTEXT_LENGTH, MAX_WORKER_THREADS
from horde.contract.vocabulary import chat_declaration, chat_policy
from horde.failures import StartError

VOUCHED = (
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "vision",
    "tools",
    "tool_choice_enforced",
    "json_object",
    "json_schema",
    "structured_output_enforced",
    "tools_with_response_format",
    "reasoning_effort",
)
"""What `--feature` may say. `tool_choice_enforced` includes tools, `structured_output_enforced` includes schemas."""

_OF_LLAMA_CPP = frozenset(
    {
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "json_object",
        "json_schema",
        "structured_output_enforced",
    }
)
"""llama.cpp's server samples with these, and constrains by a grammar or refuses. Tools depend on the model's
template, so they are the operator's to vouch for."""


def declaration(options: WorkerOptions, proven: Proven) -> chat_declaration.ChatWorkerDeclaration:
    """The chat declaration of every pop. Raises StartError for flags that contradict each other."""
    can = options.features | (_OF_LLAMA_CPP if proven.is_llama_cpp else frozenset())
    if proven.reads_images:
        can |= {"vision"}
    strategies = chat_declaration.ChatToolStrategy
    strategy = strategies.TEMPLATE if "tools" in can else strategies.NONE
    if "tool_choice_enforced" in can:
        strategy = strategies.GRAMMAR
    transports = frozenset({chat_declaration.ChatImageTransport.BASE64} if "vision" in can else ())
    facts = chat_declaration.ChatBackendFacts(
        honours_seed="seed" in can,
        applies_presence_penalty="presence_penalty" in can,
        applies_frequency_penalty="frequency_penalty" in can,
        reads_images="vision" in can,
        image_transports=transports,
        renders_tools=strategy is not strategies.NONE,
        tool_strategy=strategy,
        constrains_json_object="json_object" in can,
        constrains_json_schema=not can.isdisjoint({"json_schema", "structured_output_enforced"}),
        faults_on_unbuildable_schema="structured_output_enforced" in can,
        # llama.cpp refuses by itself; for any other server the worker checks an estimate before it asks.
        refuses_prompt_overflow=options.is_overflow_refused is not False,
        serves_tools_with_response_format="tools_with_response_format" in can,
        applies_reasoning_effort="reasoning_effort" in can,
    )
    return chat_declaration.declare_from_backend(
        facts,
        model_id=options.model,
        limits=limits(options, proven),
        prompt_jobs=False,
        exclude=[_named(word) for word in options.excluded],
    )


def limits(options: WorkerOptions, proven: Proven) -> chat_policy.ChatWorkerLimits:
    """The longest context and reply. Raises StartError when more context is wanted than the backend has."""
    context = options.max_context_length or proven.context_length or DEFAULT_CONTEXT_LENGTH
    if proven.context_length is not None and context > proven.context_length:
        raise StartError(
            f"--max-context-length {context} is more than the backend's {proven.context_length}; "
            "lower it, or start the backend with more"
        )
    return chat_policy.ChatWorkerLimits(
        max_context_length=context, max_length=options.max_length or min(DEFAULT_CHAT_MAX_LENGTH, context)
    )


def threads(options: WorkerOptions, proven: Proven) -> int:
    """Jobs at a time: as many as wanted, else as the backend has slots, else one."""
    return min(options.threads or proven.slots or 1, MAX_WORKER_THREADS)


def checks_estimate(options: WorkerOptions, proven: Proven) -> bool:
    """Whether the worker itself must fault a prompt that does not fit."""
    return options.is_overflow_refused is not False and not (proven.is_llama_cpp or options.is_overflow_refused)


def _named(word: str) -> chat_policy.ChatFeature | chat_policy.ChatGuarantee:
    for vocabulary in (chat_policy.ChatFeature, chat_policy.ChatGuarantee):
        for value in vocabulary:
            if value.value == word:
                return value
    raise StartError(f"--exclude {word}: the chat vocabulary has no such word")
