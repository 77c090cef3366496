"""A text worker as they are in the field: koboldcpp's embedded one, to the byte."""

import threading
from collections.abc import Mapping
from typing import Any, Self, override

import httpx

HEADERS = {"User-Agent": "KoboldCppEmbeddedWorkerV2", "Client-Agent": "KoboldCppEmbedWorker:2"}
BRIDGE = "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp"


class TextWorker(threading.Thread):
    """Polls, continues every prompt with the same words, submits. It knows nothing of chat."""

    def __init__(self, url: str, api_key: str, *, name: str, model: str) -> None:
        super().__init__(daemon=True)
        self._http = httpx.Client(base_url=f"{url}/api/v2", timeout=30, headers={**HEADERS, "apikey": api_key})
        self._stopping = threading.Event()
        self._pop = {
            "name": name,
            "models": [model],
            "max_length": 512,
            "max_context_length": 4096,
            "priority_usernames": [],
            "softprompts": [],
            "bridge_agent": BRIDGE,
        }
        self.popped: list[Mapping[str, Any]] = []
        self.rewards: list[float] = []

    def __enter__(self) -> Self:
        self._poll()  # it is online before anybody asks for it
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join(30)
        self._http.close()

    @override
    def run(self) -> None:
        while not self._stopping.is_set():
            if not self._poll():
                self._stopping.wait(0.1)

    def _poll(self) -> bool:
        answer = self._http.post("/generate/text/pop", json=self._pop)
        answer.raise_for_status()
        job: Mapping[str, Any] = answer.json()
        if not job["id"]:
            return False
        self.popped.append(job)
        reply = {"id": job["id"], "generation": f"{job['payload']['prompt']} ... the end.", "state": "ok"}
        submitted = self._http.post("/generate/text/submit", json=reply)
        submitted.raise_for_status()
        self.rewards.append(float(submitted.json()["reward"]))
        return True
