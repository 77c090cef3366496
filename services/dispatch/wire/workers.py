"""ListWorkers, GetWorker, UpdateWorker and DeleteWorker between proto and the rules' words."""

from collections.abc import Sequence

from horde_pb.dispatch.v1 import worker_routes_pb2 as routes
from horde_pb.dispatch.v1 import workers_pb2
from services.dispatch.rules.declaration import ChatDeclaration
from services.dispatch.rules.worker_changes import Change
from services.dispatch.rules.worker_details import View, WorkerDetails, WorkerFile
from services.dispatch.wire import messages


def listed(views: Sequence[View]) -> routes.ListWorkersResponse:
    """The list."""
    return routes.ListWorkersResponse(workers=[_details(view) for view in views])


def one(view: View) -> routes.GetWorkerResponse:
    """One worker."""
    return routes.GetWorkerResponse(worker=_details(view))


def change(request: routes.UpdateWorkerRequest) -> Change:
    """What is to be changed."""
    return Change(
        maintenance=request.maintenance if request.HasField("maintenance") else None,
        maintenance_msg=request.maintenance_msg if request.HasField("maintenance_msg") else None,
        paused=request.paused if request.HasField("paused") else None,
        info=request.info if request.HasField("info") else None,
        name=request.name if request.HasField("name") else None,
    )


def changed(done: Change) -> routes.UpdateWorkerResponse:
    """What was changed."""
    return routes.UpdateWorkerResponse(maintenance=done.maintenance, paused=done.paused, info=done.info, name=done.name)


def deleted(worker: WorkerDetails) -> routes.DeleteWorkerResponse:
    """What is gone."""
    return routes.DeleteWorkerResponse(deleted_id=str(worker.id), deleted_name=worker.name)


def _details(view: View) -> workers_pb2.WorkerDetails:
    worker = view.worker
    return workers_pb2.WorkerDetails(
        id=str(worker.id),
        name=worker.name,
        online=view.online,
        requests_fulfilled=worker.fulfilments,
        kudos_hundredths=worker.kudos,
        generated_hundredths=worker.generated_kudos,
        uptime_hundredths=worker.uptime_kudos,
        speed=worker.speed,
        threads=worker.threads,
        uptime_seconds=worker.uptime,
        maintenance=worker.maintenance,
        info=worker.info,
        nsfw=worker.nsfw,
        trusted=worker.trusted,
        flagged=worker.flagged,
        uncompleted_jobs=worker.uncompleted_jobs,
        nonconformant_replies=worker.nonconformant_replies,
        models=worker.models,
        bridge_agent=worker.bridge_agent,
        max_length=worker.max_length,
        max_context_length=worker.max_context_length,
        chat=_chat(worker.chat) if worker.chat.accepts_chat_jobs else None,
        prompt_jobs=worker.chat.accepts_prompt_jobs,
        owner=view.owner,
        file=None if view.file is None else _file(view.file),
        messages=messages.told(view.messages),
    )


def _chat(chat: ChatDeclaration) -> workers_pb2.ChatDeclaration:
    return workers_pb2.ChatDeclaration(
        chat_jobs=True,
        prompt_jobs=chat.accepts_prompt_jobs,
        chat_features=chat.features,
        chat_limits=workers_pb2.ChatLimits(
            max_context_length=chat.max_context_length or 0,
            max_length=chat.max_length or 0,
            tools_max_temperature=chat.tools_max_temperature,
        ),
        model_id=chat.model_id,
        image_transports=chat.image_transports,
    )


def _file(file: WorkerFile) -> workers_pb2.WorkerFile:
    return workers_pb2.WorkerFile(
        paused=file.paused, suspicions=file.suspicions, address=file.address, contact=file.contact
    )
