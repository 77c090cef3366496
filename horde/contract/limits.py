"""Every client-visible number, with its source. Numbers that horde-sdk defines are imported from it."""

from horde.contract.vocabulary import chat_limits

MAX_CHAT_BODY_BYTES = 36 * 1024 * 1024
"""Largest HTTP body in bytes: 25 MiB of images as base64, 1 MiB of text, room for structure. Chat reference, Images."""

MAX_WORKER_BODY_BYTES = 2 * 1024 * 1024
"""Largest HTTP body of a pop or a progress post: a reply of 16384 tokens is at most 256 KiB, six times that escaped."""

MAX_JSON_NESTING = 64
"""Deepest nesting of arrays and objects in a body. Decision 14."""

MAX_JSON_VALUES = 1_500_000
MAX_TEXT_JSON_VALUES = 4_000_000
"""Most values in a body, counted by its commas and brackets: more than the fullest chat request has, 1 MiB of text and
131,072 tool calls; a text prompt may hold more commas."""

MAX_JSON_NUMBER = 1e308
"""Largest magnitude of a number in a body. Decision 14."""

MAX_CHAT_MESSAGE_COUNT = 1024
"""Messages in one chat request. Chat reference, Refused keys and values."""

MAX_CHAT_MODEL_COUNT = 5
"""Entries of `models`. Chat reference, Request body."""

MAX_WORKER_LIST = 5
"""Entries of `horde.only` and `horde.ignore`. Decision 11."""

DEFAULT_CHAT_MAX_LENGTH = 512
"""`max_tokens` when absent. Chat reference, Request body."""

MIN_CHAT_MAX_LENGTH = chat_limits.MIN_CHAT_MAX_TOKENS
MAX_CHAT_MAX_LENGTH = chat_limits.MAX_CHAT_MAX_TOKENS
MAX_CHAT_TOOL_COUNT = chat_limits.MAX_CHAT_TOOL_COUNT
MAX_CHAT_TOOL_SPEC_BYTES = chat_limits.MAX_CHAT_TOOL_SPEC_BYTES
MAX_CHAT_TEXT_BYTES = chat_limits.MAX_CHAT_TEXT_BYTES
MAX_CHAT_SCHEMA_NESTING = chat_limits.MAX_CHAT_SCHEMA_NESTING
CHAT_SAMPLING_DEFAULTS = chat_limits.CHAT_SAMPLING_DEFAULTS

MAX_CHAT_TOOL_CALL_COUNT = 128
"""Tool calls in one assistant message or reply. Chat reference, Tools."""

MAX_TOOL_CALL_ID_LENGTH = 256
"""Characters of `tool_call_id`. Chat reference, Tools."""

DEFAULT_CONTEXT_LENGTH = 2048
"""`max_context_length` when absent. base-domain 3.2."""

MIN_CONTEXT_LENGTH = 80
MAX_CONTEXT_LENGTH = 1_048_576
"""Range of `max_context_length`. base-domain 3.2, decision R5."""

MAX_STOP_SEQUENCES = 128
MAX_STOP_CHARACTERS = 2000
"""Distinct stop sequences and their characters together. base-domain 3.2."""

MAX_TEXT_BODY_BYTES = 16 * 1024 * 1024
"""Largest HTTP body of a text submit: the widest context, 1,048,576 tokens of four characters of four bytes."""

DEFAULT_TEXT_MAX_LENGTH = 80
MAX_TEXT_JOBS = 20
MIN_SAMPLERS = 7
"""`max_length` when absent; largest `n`; different entries that a `sampler_order` has. base-domain 3.2."""

MAX_TEXT_LIST = 200
"""Entries of a text submit's lists. Upstream sets no bound; a worker serves at most so many models."""

MAX_EXTRA_SOURCE_IMAGES = 5
"""Extra images before a text submit is refused for their number rather than for having any. base-domain 1.10."""

CHARACTERS_PER_PROMPT_TOKEN = 3
"""How the prompt's tokens are estimated for its context. base-domain 3.6."""

CHAT_IMAGE_PROMPT_TOKENS = 512
"""Tokens an image part adds to the estimate. Chat reference, Flattened prompt."""

MAX_CHAT_IMAGE_COUNT = 20
MAX_CHAT_IMAGE_BYTES = 5 * 1024 * 1024
MAX_CHAT_IMAGE_TOTAL_BYTES = 25 * 1024 * 1024
MAX_CHAT_IMAGE_TOTAL_BYTES_UNTRUSTED = 5 * 1024 * 1024
MAX_CHAT_IMAGE_PIXELS = 3072 * 3072
MAX_CHAT_IMAGE_SIDE = 2048
"""Image caps; the side is what a longer image is reduced to. Chat reference, Images."""

MAX_CHAT_FAULT_REASON_LENGTH = 1000
"""Characters kept of a refusal. Chat reference, Refusal record."""

MAX_NATIVE_FINISH_REASON_LENGTH = 32
MAX_REPORTED_TOKENS = 10_000_000
"""Chat reference, Structured submit."""

MAX_GEN_METADATA = 50
MAX_METADATA_REF_LENGTH = 255
"""Entries of `gen_metadata`, and characters of an entry's `ref`. base-domain 5.1."""

MAX_CHAT_PROGRESS_ENTRIES = 1000
CHAT_PROGRESS_BYTES_PER_TOKEN = 16
CHAT_PROGRESS_STREAM_MAX_ENTRIES = 4000
"""Progress caps. Chat reference, Streaming progress."""

MAX_JOBS_PER_POP = 20
"""`amount` of a pop. base-domain 4.1."""

MAX_WAIT_SECONDS = 30
"""`wait_seconds` of a pop and of a status. Decisions 33 and 34."""

MAX_WORKER_NAME_LENGTH = 100
MIN_CHOSEN_WORKER_NAME_LENGTH = 5
MAX_WORKER_INFO_LENGTH = 1000
MAX_MAINTENANCE_MESSAGE_LENGTH = 300
MAX_WORKER_MODELS = 200
MAX_MODEL_LENGTH = 255
MAX_BRIDGE_AGENT_LENGTH = 1000
MAX_WORKER_THREADS = 50
"""Pop fields, base-domain 4.1; what an owner may change, 4.12. The message's length is its column's."""

MAX_CHAT_IMAGE_DELETE_RETRY_KEYS = 100_000
CHAT_IMAGE_DELETE_RETRY_BATCH = 1000
"""Keys the retry set of deletes holds at most, and how many one pass tries. Chat reference, Images."""

MAX_WORKER_MESSAGE_LENGTH = 10_240
MAX_WORKER_MESSAGE_ORIGIN_LENGTH = 255
MAX_WORKER_MESSAGE_HOURS = 720
DEFAULT_WORKER_MESSAGE_HOURS = 12
MAX_WORKER_MESSAGE_PAGE = 1_000_000
"""Messages for workers, base-domain 4.12. The origin's length and the last page are ours."""

MAX_IMAGE_REDIRECTS = 3
IMAGE_FETCH_STEP_SECONDS = 2.0
IMAGE_FETCH_SECONDS = 10.0
"""Redirects followed for one image; seconds for a connection or a read, and in all. Chat reference, Images."""

WEBHOOK_QUEUE = 256
WEBHOOK_ATTEMPTS = 3
WEBHOOK_SECONDS = 3.0
"""Calls to webhooks that wait in one process; how often one is tried, and seconds for a try. base-domain 3.12."""

MIN_FILTER_TYPE = 10
MAX_FILTER_TYPE = 29
"""Range of `filter_type`. base-domain 8.1."""

MAX_FILTER_REGEX_LENGTH = 10_000
MAX_FILTER_NOTE_LENGTH = 1000
"""Characters of a filter's pattern, and of its description and replacement. Upstream sets no bound."""

MIN_ADDRESS_LENGTH = 7
MAX_ADDRESS_LENGTH = 40
MAX_ADDRESS_BLOCK_HOURS = 720
MAX_WORKER_BLOCK_DAYS = 30
"""Characters of an address to keep out, and how long it may be kept out. base-domain 9."""
