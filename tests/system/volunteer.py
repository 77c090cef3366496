"""A volunteer's worker in a thread, built on horde-sdk's declaration and submit builders, as a test needs it."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from horde.contract.vocabulary import chat_declaration, chat_policy

Job = chat_declaration.ChatJobPayload
_LOST = (httpx.TransportError, httpx.HTTPStatusError)


def words_reply(job: Job) -> str:
    """A reply of a few words that names the last message."""
    return f"You said: {str(job.messages[-1]['content'])[:40]} ✓"


class Volunteer(threading.Thread):
    """Pops, posts progress when asked to, submits. A lost answer is asked for again."""

    def __init__(  # noqa: PLR0913 - because each is something a test is about
        self,
        url: str,
        api_key: str,
        *,
        name: str = "volunteer",
        model: str = "test/Tester-7B",
        features: frozenset[chat_policy.ChatFeature] = frozenset(),
        transports: frozenset[chat_declaration.ChatImageTransport] = frozenset(),
        reply: Callable[[Job], str | Mapping[str, Any]] = words_reply,
        decide: Callable[[Job], str] = lambda _: "reply",
        pause: float = 0.02,
        context: int = 8192,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.model = model
        self._http = httpx.Client(base_url=f"{url}/api/v2", headers={"apikey": api_key}, timeout=30)
        self._decide, self._reply, self._pause = decide, reply, pause
        self._stopping = threading.Event()
        self.popped: list[Mapping[str, Any]] = []
        self.submitted: list[str] = []
        self.posts = 0
        declaration = chat_declaration.ChatWorkerDeclaration(
            prompt_jobs=False,
            model_id=model,
            features=frozenset({*features, chat_policy.ChatGuarantee.PROMPT_OVERFLOW_REFUSED}),
            limits=chat_policy.ChatWorkerLimits(max_context_length=context, max_length=1024),
            image_transports=transports,
        )
        self._pop = {
            "name": name,
            "models": [model],
            "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
            **declaration.to_pop_fields(),
        }

    def __enter__(self) -> Self:
        try:
            self.pop_once()
        except _LOST:
            self._http.close()
            raise
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join(30)
        self._http.close()

    def run(self) -> None:
        """Serve until told to stop."""
        while not self._stopping.is_set():
            try:
                popped = self.pop_once()
            except _LOST:
                time.sleep(0.1)
                continue
            if popped["id"] is None:
                time.sleep(self._pause)
            else:
                self._serve(popped)

    def pop_once(self) -> Mapping[str, Any]:
        """One pop's answer."""
        answer = self._http.post("/generate/text/pop", json=self._pop)
        answer.raise_for_status()
        popped: Mapping[str, Any] = answer.json()
        if popped["id"] is not None:
            self.popped.append(popped)
        return popped

    def _serve(self, popped: Mapping[str, Any]) -> None:
        job = Job.from_pop(self._whole(popped))
        match self._decide(job):
            case "fault":
                reason = chat_declaration.ChatFaultReason.GENERATION_ERROR
                self._submit(chat_declaration.build_chat_fault_submit(popped["id"], self.model, reason))
            case "vanish":
                return
            case _:
                told = self._reply(job)
                message = {"content": told} if isinstance(told, str) else told
                text = message["content"] or ""
                if text and popped["payload"].get("stream_progress") and not self._post(popped["id"], text):
                    return
                usage = chat_declaration.ChatUsage(prompt_tokens=11, completion_tokens=len(text.split()))
                reasons = chat_declaration.ChatFinishReason
                why = reasons.TOOL_CALLS if message.get("tool_calls") else reasons.STOP
                self._submit(chat_declaration.build_chat_reply_submit(popped["id"], self.model, message, why, usage))

    def _whole(self, popped: Mapping[str, Any]) -> Mapping[str, Any]:
        """The job with its messages, fetched when the horde sent a link in their place."""
        url = popped["payload"].get("messages_url")
        if url is None:
            return popped
        if "messages_url" not in self._pop["image_transports"] or "messages" in popped["payload"]:
            raise AssertionError("a link to messages was not asked for")
        answer = httpx.get(url, timeout=10)
        answer.raise_for_status()
        return {**popped, "payload": {**popped["payload"], "messages": answer.json()}}

    def _post(self, generation: str, text: str) -> bool:
        """Post the text word by word; False when the job is not wanted any more."""
        pieces = [piece + " " for piece in text.split(" ")]
        pieces[-1] = pieces[-1][:-1]
        for seq, piece in enumerate(pieces, start=1):
            body = {"id": generation, "seq": seq, "delta": {"content": piece}}
            answer = self._insist("/generate/text/progress", body)
            if answer.status_code == 404 and answer.json()["rc"] == "ChatJobAborted":
                return False
            if answer.status_code != 200:
                return True
            self.posts += 1
            if answer.json()["cancelled"]:
                return False
            time.sleep(0.01)
        return True

    def _submit(self, body: Mapping[str, Any]) -> None:
        answer = self._insist("/generate/text/submit", body)
        if answer.status_code == 200 or "already submitted" in answer.text:
            self.submitted.append(body["id"])

    def _insist(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """Ask until somebody answers with less than 500; the same call twice does no harm."""
        while True:
            try:
                answer = self._http.post(path, json=body)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if answer.status_code < 500:
                return answer
            if answer.status_code == 503 and "progress" in path:
                return answer
            time.sleep(0.1)
