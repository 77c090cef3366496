"""Every reason to say no: the public return code (`rc`) and the gRPC code it travels under.

How a reason is rendered is the gateway's. Source: the return codes of the chat reference, and of the text API it
stands on.
"""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. `key` is unique; several keys may share the public `word`. `code` names a gRPC status."""

    key: str
    word: str
    code: str


_ALL: dict[str, Reason] = {}


def _reason(key: str, code: str, word: str | None = None) -> Reason:
    reason = Reason(key, word or key, code)
    if _ALL.setdefault(key, reason) is not reason:
        raise ValueError(f"reason {key} is declared twice")
    return reason


# What was sent is wrong.
BAD_REQUEST = _reason("BadRequest", "INVALID_ARGUMENT")
# The body breaks the declared shape or range: facts carry `errors`, a text for each path (decision 12).
VALIDATION_FAILED = _reason("ValidationFailed", "INVALID_ARGUMENT", "BadRequest")
REQUEST_TOO_LARGE = _reason("RequestTooLarge", "OUT_OF_RANGE")
# The message is the limit in words: `2 per 1 second`.
RATE_LIMIT_EXCEEDED = _reason("RateLimitExceeded", "RESOURCE_EXHAUSTED")
NUL_BYTE_IN_PAYLOAD = _reason("NulByteInPayload", "INVALID_ARGUMENT")
UNSUPPORTED_CHAT_PARAMETER = _reason("UnsupportedChatParameter", "INVALID_ARGUMENT")
CHAT_REQUEST_CONFLICT = _reason("ChatRequestConflict", "INVALID_ARGUMENT")
OPERATION_KEY_CONFLICT = _reason("OperationKeyConflict", "INVALID_ARGUMENT")
MISSING_PROMPT = _reason("MissingPrompt", "INVALID_ARGUMENT")
MISSING_FULL_SAMPLER_ORDER = _reason("MissingFullSamplerOrder", "INVALID_ARGUMENT")
TOKEN_OVERFLOW = _reason("TokenOverflow", "INVALID_ARGUMENT")
TOO_MANY_STOP_SEQUENCES = _reason("TooManyStopSequences", "INVALID_ARGUMENT")
EXCESSIVE_STOP_SEQUENCE = _reason("ExcessiveStopSequence", "INVALID_ARGUMENT")
PROMPT_EXCEEDS_CONTEXT = _reason("PromptExceedsContext", "INVALID_ARGUMENT")
CHAT_KUDOS_CAP_EXCEEDED = _reason("ChatKudosCapExceeded", "INVALID_ARGUMENT")

# Images.
TOO_MANY_EXTRA_SOURCE_IMAGES = _reason("TooManyExtraSourceImages", "INVALID_ARGUMENT")
MORE_THAN_MIN_EXTRA_SOURCE_IMAGE = _reason("MoreThanMinExtraSourceImage", "INVALID_ARGUMENT")
INVALID_EXTRA_SOURCE_IMAGES = _reason("InvalidExtraSourceImages", "INVALID_ARGUMENT")
SOURCE_IMAGE_SIZE_EXCEEDED = _reason("SourceImageSizeExceeded", "INVALID_ARGUMENT")
SOURCE_IMAGE_RESOLUTION_EXCEEDED = _reason("SourceImageResolutionExceeded", "INVALID_ARGUMENT")
SOURCE_IMAGE_UNREADABLE = _reason("SourceImageUnreadable", "INVALID_ARGUMENT")
SOURCE_IMAGE_URL_REFUSED = _reason("SourceImageUrlRefused", "INVALID_ARGUMENT")
SOURCE_IMAGE_URL_INVALID = _reason("SourceImageUrlInvalid", "INVALID_ARGUMENT")
CHAT_IMAGE_STORAGE_UNAVAILABLE = _reason("ChatImageStorageUnavailable", "UNAVAILABLE")

# Who asks, and whether anybody may now.
INVALID_API_KEY = _reason("InvalidAPIKey", "UNAUTHENTICATED")
NOT_MODERATOR = _reason("NotModerator", "PERMISSION_DENIED")
NOT_REQUEST_OWNER = _reason("NotRequestOwner", "PERMISSION_DENIED")
ONLY_SERVICE_ACCOUNT_PROXY = _reason("OnlyServiceAccountProxy", "INVALID_ARGUMENT")
REQUIRES_TRUST = _reason("RequiresTrust", "INVALID_ARGUMENT")
DELETED_USER = _reason("DeletedUser", "PERMISSION_DENIED")
SHARED_KEY_EMPTY = _reason("SharedKeyEmpty", "PERMISSION_DENIED")
SHARED_KEY_EXPIRED = _reason("SharedKeyExpired", "PERMISSION_DENIED")
SHARED_KEY_INSUFFICIENT_KUDOS = _reason("SharedKeyInsufficientKudos", "PERMISSION_DENIED")
KUDOS_UPFRONT = _reason("KudosUpfront", "PERMISSION_DENIED")
TIMEOUT_IP = _reason("TimeoutIP", "PERMISSION_DENIED")
CORRUPT_PROMPT = _reason("CorruptPrompt", "INVALID_ARGUMENT")
TOO_MANY_PROMPTS = _reason("TooManyPrompts", "RESOURCE_EXHAUSTED")
MAINTENANCE_MODE = _reason("MaintenanceMode", "INVALID_ARGUMENT")
CHAT_ADMISSION_DISABLED = _reason("ChatAdmissionDisabled", "UNAVAILABLE")

# Who could serve it.
UNKNOWN_CHAT_MODEL = _reason("UnknownChatModel", "NOT_FOUND")
NO_ELIGIBLE_WORKER = _reason("NoEligibleWorker", "PERMISSION_DENIED")
WORKER_NOT_FOUND = _reason("WorkerNotFound", "NOT_FOUND")
STYLE_NOT_FOUND = _reason("StyleNotFound", "NOT_FOUND")
REQUEST_NOT_FOUND = _reason("RequestNotFound", "NOT_FOUND")

# Workers: pop.
ANON_FORBIDDEN_WORKER = _reason("AnonForbiddenWorker", "PERMISSION_DENIED")
WORKER_FLAGGED_MAINTENANCE = _reason("WorkerFlaggedMaintenance", "PERMISSION_DENIED")
WORKER_MAINTENANCE = _reason("WorkerMaintenance", "PERMISSION_DENIED")
WORKER_INVITE_ONLY = _reason("WorkerInviteOnly", "PERMISSION_DENIED")
TOO_MANY_WORKERS = _reason("TooManyWorkers", "PERMISSION_DENIED")
TOO_MANY_WORKERS_TRUSTED = _reason("TooManyWorkersTrusted", "PERMISSION_DENIED")
TOO_MANY_SAME_IPS = _reason("TooManySameIPs", "PERMISSION_DENIED")
POLYMORPHIC_NAME_CONFLICT = _reason("PolymorphicNameConflict", "INVALID_ARGUMENT")
INVALID_PRIORITY_USERNAME = _reason("InvalidPriorityUsername", "INVALID_ARGUMENT")
CHAT_DECLARATION_INVALID = _reason("ChatDeclarationInvalid", "INVALID_ARGUMENT")
# Workers: what their owners and moderators change.
ANON_FORBIDDEN = _reason("AnonForbidden", "PERMISSION_DENIED")
NOT_OWNER = _reason("NotOwner", "PERMISSION_DENIED")
NO_WORKER_MOD_SELECTED = _reason("NoWorkerModSelected", "INVALID_ARGUMENT")
TOO_LONG_WORKER_NAME = _reason("TooLongWorkerName", "INVALID_ARGUMENT")
WORKER_NAME_ALREADY_EXISTS = _reason("WorkerNameAlreadyExists", "INVALID_ARGUMENT")
LOCKED = _reason("Locked", "FAILED_PRECONDITION")
WRONG_CREDENTIALS = _reason("WrongCredentials", "PERMISSION_DENIED")

# Workers: submit and progress.
INVALID_JOB_ID = _reason("InvalidJobID", "NOT_FOUND")
DUPLICATE_GEN = _reason("DuplicateGen", "INVALID_ARGUMENT")
ABORTED_GEN = _reason("AbortedGen", "INVALID_ARGUMENT")
CHAT_SUBMIT_INVALID = _reason("ChatSubmitInvalid", "INVALID_ARGUMENT")
CHAT_SUBMIT_NONCONFORMANT = _reason("ChatSubmitNonconformant", "INVALID_ARGUMENT")
CHAT_MODEL_MISMATCH = _reason("ChatModelMismatch", "INVALID_ARGUMENT")
CHAT_JOB_ABORTED = _reason("ChatJobAborted", "NOT_FOUND")
CHAT_PROGRESS_NOT_STREAMING = _reason("ChatProgressNotStreaming", "NOT_FOUND")
CHAT_PROGRESS_OUT_OF_SEQUENCE = _reason("ChatProgressOutOfSequence", "ABORTED")
CHAT_PROGRESS_CAP_REACHED = _reason("ChatProgressCapReached", "OUT_OF_RANGE")
CHAT_PROGRESS_UNAVAILABLE = _reason("ChatProgressUnavailable", "UNAVAILABLE")

ALL = MappingProxyType(_ALL)
