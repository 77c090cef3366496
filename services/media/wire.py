"""Between the proto and the words of the domain."""

from horde_pb.media.v1 import media_service_pb2 as pb
from services.media.rules.image_sources import ImagesAsk


def images_ask(request: pb.StoreImagesRequest) -> ImagesAsk:
    """What StoreImages asks."""
    return ImagesAsk(request.request_id, request.urls, request.max_total_bytes)
