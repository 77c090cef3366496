// The chat on the page at /: sends what was said to /v1/chat/completions and shows the answer as it streams.
// Text is only ever set as text; nothing that a model or a stranger wrote becomes markup.

const at = (id) => document.getElementById(id);
const [form, log, prompt, picker, trouble] = ["ask", "log", "prompt", "picker", "trouble"].map(at);
const LARGEST_IMAGE = 4 * 1024 * 1024; // bytes; larger ones are made smaller here, before they travel
const LONGEST_SIDE = 2048; // pixels; the horde keeps no more

let said = []; // the conversation, as the API wants it
let images = []; // data URLs that go with the next message
let running = null; // the AbortController of the answer that is streaming

const stored = sessionStorage.getItem("key");
if (stored) at("key").value = stored;
at("key").addEventListener("change", () => sessionStorage.setItem("key", at("key").value.trim()));

function make(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function show(role, text, pictures = []) {
  const item = make("article", role);
  item.append(make("span", "hidden", role === "user" ? "You: " : "Answer: "));
  for (const picture of pictures) {
    const image = item.appendChild(make("img"));
    image.src = picture;
    image.alt = "image you sent";
  }
  item.append(make("p", "said", text));
  log.append(item);
  item.scrollIntoView({ block: "end" });
  return item;
}

function complain(text) {
  trouble.textContent = text;
  trouble.hidden = !text;
}

// What one event stream says, event by event.
async function* events(body) {
  let rest = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: ") && line !== "data: [DONE]") yield JSON.parse(line.slice(6));
    }
  }
}

async function failure(response) {
  const told = await response.json().catch(() => null);
  const error = told?.error?.message ?? told?.message ?? `The gateway answered ${response.status}.`;
  const wait = response.headers.get("Retry-After");
  return response.status === 429 && wait ? `${error} Try again in ${wait} s.` : error;
}

function bill(usage, horde) {
  const parts = [];
  if (horde?.kudos !== undefined) parts.push(`${horde.kudos} kudos`);
  if (usage) parts.push(`${usage.completion_tokens} tokens`);
  if (horde?.worker?.name) parts.push(`by ${horde.worker.name}`);
  if (horde?.queue_wait_seconds !== undefined) parts.push(`waited ${Math.round(horde.queue_wait_seconds * 10) / 10} s`);
  return parts.join(" · ");
}

async function ask(messages, item, signal) {
  const response = await fetch("/v1/chat/completions", {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${at("key").value.trim()}` },
    body: JSON.stringify({
      model: at("model").value,
      messages,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: Number(at("longest").value),
      temperature: Number(at("temperature").value),
    }),
  });
  if (!response.ok) throw new Error(await failure(response));
  const text = item.querySelector(".said");
  for await (const event of events(response.body)) {
    if (event.error) throw new Error(event.error.message);
    const delta = event.choices[0]?.delta;
    if (delta?.reasoning_content) thoughtOf(item).append(delta.reasoning_content);
    if (delta?.content) text.append(delta.content);
    if (event.usage) item.append(make("p", "cost", bill(event.usage, event.horde)));
    if (log.scrollHeight - log.scrollTop - log.clientHeight < 120) log.scrollTop = log.scrollHeight;
  }
  return text.textContent;
}

function thoughtOf(item) {
  const there = item.querySelector(".thought p");
  if (there) return there;
  const box = make("details", "thought");
  box.append(make("summary", "", "Reasoning"), make("p", "said"));
  item.querySelector(".said").before(box);
  return box.querySelector("p");
}

async function send() {
  const text = prompt.value.trim();
  if (running || (!text && !images.length)) return;
  complain("");
  const content = images.length
    ? [...images.map((url) => ({ type: "image_url", image_url: { url } })), ...(text ? [{ type: "text", text }] : [])]
    : text;
  const mine = show("user", text, images);
  const turn = { role: "user", content };
  const instructions = at("instructions").value.trim();
  const messages = [...(instructions ? [{ role: "system", content: instructions }] : []), ...said, turn];
  const draft = [prompt.value, images];
  prompt.value = "";
  take([]);
  const item = show("assistant", "");
  item.setAttribute("aria-busy", "true");
  running = new AbortController();
  at("stop").hidden = false;
  at("send").disabled = true;
  try {
    const answer = await ask(messages, item, running.signal);
    said.push(turn, { role: "assistant", content: answer });
  } catch (error) {
    const begun = item.querySelector(".said").textContent;
    if (begun) said.push(turn, { role: "assistant", content: begun });
    else {
      // Nothing came: the message goes back to where it can be sent again.
      item.remove();
      mine.remove();
      prompt.value = draft[0];
      take(draft[1]);
    }
    if (error.name === "AbortError") item.append(make("p", "cost", "stopped"));
    else complain(error.message);
  } finally {
    item.removeAttribute("aria-busy");
    running = null;
    at("stop").hidden = true;
    at("send").disabled = false;
    prompt.focus();
  }
}

function take(urls) {
  images = urls;
  at("images").replaceChildren(
    ...urls.map((url, place) => {
      const item = make("li");
      const image = item.appendChild(make("img"));
      image.src = url;
      image.alt = `image ${place + 1} to send`;
      const remove = item.appendChild(make("button", "", "Remove"));
      remove.type = "button";
      remove.addEventListener("click", () => take(images.filter((other) => other !== url)));
      return item;
    }),
  );
}

// A picture as a data URL, made smaller when it is larger than the horde would keep.
async function packed(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && file.size <= LARGEST_IMAGE) {
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    });
  }
  const canvas = make("canvas");
  [canvas.width, canvas.height] = [bitmap.width * scale, bitmap.height * scale].map(Math.round);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.9);
}

async function add(files) {
  try {
    for (const file of files) take([...images, await packed(file)]);
  } catch {
    complain("That file is no image this browser can read.");
  }
}

async function refreshModels() {
  const response = await fetch("/v1/models");
  if (!response.ok) return;
  const names = (await response.json()).data.map((card) => card.id);
  const [picked, shown] = [at("model").value, [...at("model").options].map((option) => option.value)];
  if (!names.length || names.join("\n") === shown.join("\n")) return;
  at("model").replaceChildren(...names.map((name) => new Option(name, name, false, name === picked)));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
prompt.addEventListener("keydown", (event) => {
  // While an input method is composing, Enter picks a word.
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
prompt.addEventListener("paste", (event) => {
  const files = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"));
  if (!files.length) return;
  event.preventDefault();
  add(files);
});
picker.addEventListener("change", () => {
  add(picker.files).finally(() => (picker.value = ""));
});
at("stop").addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => event.key === "Escape" && running?.abort());
at("model").addEventListener("focus", refreshModels);
at("fresh").addEventListener("click", () => {
  running?.abort();
  said = [];
  log.replaceChildren();
  complain("");
  prompt.focus();
});
