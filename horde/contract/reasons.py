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
FORBIDDEN = _reason("Forbidden", "PERMISSION_DENIED")
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
# Not by a filter: nothing was left of it for a model that is marked NSFW, or for a flagged account. Suspects nobody.
PROMPT_REWRITTEN_AWAY = _reason("PromptRewrittenAway", "INVALID_ARGUMENT", "CorruptPrompt")
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
TOO_MANY_NEW_IPS = _reason("TooManyNewIPs", "PERMISSION_DENIED")
UNSAFE_IP = _reason("UnsafeIP", "PERMISSION_DENIED")
PROFANE_WORKER_NAME = _reason("ProfaneWorkerName", "INVALID_ARGUMENT")
PROFANE_BRIDGE_AGENT = _reason("ProfaneBridgeAgent", "INVALID_ARGUMENT")
PROFANE_WORKER_INFO = _reason("ProfaneWorkerInfo", "INVALID_ARGUMENT")
POLYMORPHIC_NAME_CONFLICT = _reason("PolymorphicNameConflict", "INVALID_ARGUMENT")
INVALID_PRIORITY_USERNAME = _reason("InvalidPriorityUsername", "INVALID_ARGUMENT")
CHAT_DECLARATION_INVALID = _reason("ChatDeclarationInvalid", "INVALID_ARGUMENT")
# Workers: what their owners and moderators change.
ANON_FORBIDDEN = _reason("AnonForbidden", "PERMISSION_DENIED")
NOT_OWNER = _reason("NotOwner", "PERMISSION_DENIED")
NO_WORKER_MOD_SELECTED = _reason("NoWorkerModSelected", "INVALID_ARGUMENT")
TOO_LONG_WORKER_NAME = _reason("TooLongWorkerName", "INVALID_ARGUMENT")
WORKER_NAME_ALREADY_EXISTS = _reason("WorkerNameAlreadyExists", "INVALID_ARGUMENT")
WORKERMESSAGE_NOT_FOUND = _reason("WorkermessageNotFound", "NOT_FOUND")
MESSAGES_ONLY_OWN_WORKERS = _reason("MessagesOnlyOwnWorkers", "PERMISSION_DENIED")
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

# What moderators and administrators decide for the whole horde.
NOT_ADMIN = _reason("NotAdmin", "PERMISSION_DENIED")
NO_HORDE_MOD_SELECTED = _reason("NoHordeModSelected", "INVALID_ARGUMENT")
NO_FILTER_MOD_SELECTED = _reason("NoFilterModSelected", "INVALID_ARGUMENT")
FILTER_NOT_FOUND = _reason("FilterNotFound", "NOT_FOUND")

# What moderators read of what is remembered.
MISSING_API_KEY = _reason("MissingAPIKey", "INVALID_ARGUMENT")
INVALID_OPERATIONS_LIMIT = _reason("InvalidOperationsLimit", "INVALID_ARGUMENT")
INVALID_OPERATIONS_CURSOR = _reason("InvalidOperationsCursor", "INVALID_ARGUMENT")
INVALID_OPERATIONS_FILTER = _reason("InvalidOperationsFilter", "INVALID_ARGUMENT")
INVALID_OPERATIONS_SORT = _reason("InvalidOperationsSort", "INVALID_ARGUMENT")
INVALID_MODERATION_EVENT_ID = _reason("InvalidModerationEventID", "INVALID_ARGUMENT")
INVALID_MODERATION_TIME_RANGE = _reason("InvalidModerationTimeRange", "INVALID_ARGUMENT")
INVALID_MODERATION_REASON = _reason("InvalidModerationReason", "INVALID_ARGUMENT")
INVALID_MODERATION_ADDRESS_FILTER = _reason("InvalidModerationAddressFilter", "INVALID_ARGUMENT")
INVALID_MODERATION_NOTE = _reason("InvalidModerationNote", "INVALID_ARGUMENT")
INVALID_MODERATION_MARK = _reason("InvalidModerationMark", "INVALID_ARGUMENT")
INVALID_USER_ID = _reason("InvalidUserID", "INVALID_ARGUMENT")
INVALID_WORKER_ID = _reason("InvalidWorkerID", "INVALID_ARGUMENT")
INVALID_WORKER_TYPE = _reason("InvalidWorkerType", "INVALID_ARGUMENT")
INVALID_SUSPICION_ID = _reason("InvalidSuspicionID", "INVALID_ARGUMENT")
INVALID_PROXIED_ACCOUNT = _reason("InvalidProxiedAccount", "INVALID_ARGUMENT")
MODERATION_EVENT_NOT_FOUND = _reason("ModerationEventNotFound", "NOT_FOUND")

# Accounts.
ANON_FORBIDDEN_USER_MOD = _reason("AnonForbiddenUserMod", "PERMISSION_DENIED")
USER_NOT_FOUND = _reason("UserNotFound", "NOT_FOUND")
NOT_PRIVILEGED = _reason("NotPrivileged", "PERMISSION_DENIED")
NON_SERVICE_FORBIDDEN = _reason("NonServiceForbidden", "PERMISSION_DENIED")
NO_USER_MOD_SELECTED = _reason("NoUserModSelected", "INVALID_ARGUMENT")
USER_NOT_DELETED = _reason("UserNotDeleted", "INVALID_ARGUMENT")
PROFANE_USER_NAME = _reason("ProfaneUserName", "INVALID_ARGUMENT")
PROFANE_USER_CONTACT = _reason("ProfaneUserContact", "INVALID_ARGUMENT")
PROFANE_ADMIN_COMMENT = _reason("ProfaneAdminComment", "INVALID_ARGUMENT")
TOO_LONG_USER_NAME = _reason("TooLongUserName", "INVALID_ARGUMENT")
NOT_USER_OR_MOD = _reason("NotUserOrMod", "PERMISSION_DENIED")
CANNOT_DELETE_MOD = _reason("CannotDeleteMod", "PERMISSION_DENIED")
CANNOT_WIPE_ACTIVE_USER = _reason("CannotWipeActiveUser", "PERMISSION_DENIED")
NO_SHARED_KEY_MOD_SELECTED = _reason("NoSharedKeyModSelected", "INVALID_ARGUMENT")
# Kudos from one account to another; words that other routes answer 403 with are 400 here (base-domain 2.8).
KUDOS_TRANSFER_FROM_ANON = _reason("KudosTransferFromAnon", "INVALID_ARGUMENT")
KUDOS_TRANSFER_TO_ANON = _reason("KudosTransferToAnon", "INVALID_ARGUMENT")
KUDOS_TRANSFER_TO_SELF = _reason("KudosTransferToSelf", "INVALID_ARGUMENT")
INVALID_TARGET_USERNAME = _reason("InvalidTargetUsername", "INVALID_ARGUMENT")
SHARED_KEY_EXPIRED_IN_TRANSFER = _reason("SharedKeyExpiredInTransfer", "INVALID_ARGUMENT", "SharedKeyExpired")
DELETED_USER_IN_TRANSFER = _reason("DeletedUserInTransfer", "INVALID_ARGUMENT", "DeletedUser")
TOO_FAST_KUDOS_TRANSFERS = _reason("TooFastKudosTransfers", "INVALID_ARGUMENT")
FAULT_WHEN_KUDOS_SENDING = _reason("FaultWhenKudosSending", "INVALID_ARGUMENT")
FAULT_WHEN_KUDOS_RECEIVING = _reason("FaultWhenKudosReceiving", "INVALID_ARGUMENT")
SOURCE_ACCOUNT_FLAGGED = _reason("SourceAccountFlagged", "INVALID_ARGUMENT")
TARGET_ACCOUNT_FLAGGED = _reason("TargetAccountFlagged", "INVALID_ARGUMENT")
EDUCATION_CANNOT_SEND_KUDOS = _reason("EducationCannotSendKudos", "INVALID_ARGUMENT")
NEGATIVE_KUDOS_TRANSFER = _reason("NegativeKudosTransfer", "INVALID_ARGUMENT")
INVALID_KUDOS_TRANSFER_AMOUNT = _reason("InvalidKudosTransferAmount", "INVALID_ARGUMENT")
KUDOS_TRANSFER_NOT_ENOUGH = _reason("KudosTransferNotEnough", "INVALID_ARGUMENT")
IDEMPOTENCY_KEY_CONFLICT = _reason("IdempotencyKeyConflict", "INVALID_ARGUMENT")

ALL = MappingProxyType(_ALL)
