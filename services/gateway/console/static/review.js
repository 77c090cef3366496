// The moderators' console: asks the review API as any client can, and shows a text only when it is asked for.
// What people wrote is set as text, never as markup, and leaves the page again when nobody looks at it.

import { Refused, button, clock, make, stored, table, visible } from "./review_parts.js";

const at = (id) => document.getElementById(id);
const API = "/api/v2/operations/moderation";
const KEY = "moderator-key";
const IDLE = 5 * 60 * 1000; // ms after which shown texts are taken off the page
const MOST = 2000; // characters of a note
const STAGES = [
  ["submitted_prompt", "Submitted"],
  ["moderation_prompt", "Judged"],
  ["effective_prompt", "Sent to the worker"],
];
let cursor = null; // where the next page begins
let address = ""; // the address looked for: kept out of the page's address, which browsers remember
let noting = null; // the event a note is being written about
let idle = 0;
let turn = 0; // which look is the newest


const tell = (text) => (at("told").textContent = text);
const complain = (text) => ((at("trouble").textContent = text), (at("trouble").hidden = !text));

// --- the API ---

async function call(path, options = {}) {
  const response = await fetch(path, {
    ...options,
    cache: "no-store",
    headers: { apikey: sessionStorage.getItem(KEY) ?? "", "Content-Type": "application/json" },
  });
  if (response.status === 429) return again(path, options, Number(response.headers.get("Retry-After")) || 1);
  const told = await response.json().catch(() => ({}));
  if (response.status === 401 || response.status === 403) leave(told.message);
  if (!response.ok) throw new Refused(told.message ?? `The gateway answered ${response.status}.`);
  return told;
}

// Counts down; what only reads is asked once more by itself, what changes something never is.
async function again(path, options, seconds) {
  document.body.inert = true;
  for (let left = seconds; left > 0; left -= 1) {
    tell(`Too many calls; ${left} s to wait.`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  document.body.inert = false;
  tell("");
  if (options.method || options.retried) throw new Refused("There were too many calls. Try it again now.");
  return call(path, { ...options, retried: true });
}

async function attempt(work) {
  complain("");
  try {
    return await work();
  } catch (error) {
    complain(error.message);
    return null;
  }
}

// --- coming and going ---

function leave(why = "") {
  sessionStorage.removeItem(KEY);
  hideAll();
  at("shown").replaceChildren();
  at("desk").hidden = true;
  at("entry").hidden = false;
  complain(why);
  at("key").focus();
}

function enter() {
  at("entry").hidden = true;
  at("desk").hidden = false;
  open();
}

// --- one event ---

const revealed = () => [...document.querySelectorAll(".revealed")];

function hideAll() {
  for (const place of revealed()) hide(place);
}

function hide(place) {
  place.classList.remove("revealed");
  place.replaceChildren();
  place.closest("article").querySelector(".reveal").textContent = "Reveal";
}

async function fetchEvent(id) {
  const page = await call(`${API}/prompts?event_id=${id}`);
  if (!page.events.length) throw new Refused("There is no such event any more.");
  return page.events[0];
}

async function reveal(row, id) {
  const place = row.querySelector(".text");
  if (place.classList.contains("revealed")) return hide(place);
  await attempt(async () => {
    const event = await fetchEvent(id);
    if (event.text_state === "none") {
      const why = event.text_redacted ? "Retention has removed the text." : "No text was recorded.";
      return put(place, make("p", "quiet", why));
    }
    if (event.text_state === "pending") {
      return show(place, event, "not yet in the store; digest made by the server when it was recorded");
    }
    const found = await stored(event, () => fetchEvent(id));
    if (found.texts) return show(place, found.texts, found.proof);
    const anyway = button("Show it all the same", () =>
      show(place, JSON.parse(new TextDecoder().decode(found.bytes)), "NOT what was recorded"),
    );
    put(place, make("p", "bad", "The digest does not match: this is not the text that was recorded. "), anyway);
  });
}

function put(place, ...parts) {
  place.replaceChildren(...parts);
  place.classList.add("revealed");
  place.closest("article").querySelector(".reveal").textContent = "Hide";
  stir();
}

function show(place, texts, proof) {
  const parts = STAGES.filter(([stage]) => texts[stage] !== null && texts[stage] !== undefined).map(([stage, name]) => {
    const words = make("pre", "said", visible(texts[stage]));
    words.dir = "auto";
    words.tabIndex = 0;
    return make("section", "", make("h4", "", name), words);
  });
  put(place, ...parts, make("p", "quiet", proof));
}

async function mark(row, event, wanted) {
  const mine = event.marks.find((one) => one.mark === wanted) && row.dataset.marked === wanted;
  const body = JSON.stringify({ mark: mine ? "none" : wanted });
  const told = await attempt(() => call(`${API}/prompts/${event.id}/mark`, { method: "PUT", body }));
  if (!told) return;
  event.marks = told.marks;
  row.dataset.marked = mine ? "" : wanted;
  refresh(row, event);
  tell(mine ? `Event ${event.id}: mark taken back.` : `Event ${event.id}: ${wanted}. It holds nothing; press again to undo.`);
}

function write(row, event) {
  noting = { row, event };
  at("holds").hidden = event.notes.length > 0;
  at("words").value = "";
  at("count").textContent = "0";
  at("writing").showModal();
}

async function save() {
  const { row, event } = noting;
  const body = JSON.stringify({ note: at("words").value });
  const note = await attempt(() => call(`${API}/prompts/${event.id}/notes`, { method: "POST", body }));
  at("writing").close();
  if (!note) return;
  event.notes.push(note);
  event.hold_source = "note";
  refresh(row, event);
  tell(`Event ${event.id}: note saved; it is held.`);
}

// What may change of an event while it is looked at.
function refresh(row, event) {
  const held = event.hold_source ? make("strong", "badge", `held: ${event.hold_source}`) : null;
  const marks = event.marks.map((one) => make("span", "badge", `${one.mark} by ${one.reviewer.username ?? one.reviewer.id}`));
  row.querySelector(".standing").replaceChildren(...[held, ...marks].filter(Boolean));
  row.querySelector(".notes").replaceChildren(
    ...event.notes.map((one) => {
      const words = make("p", "said", visible(one.note));
      words.dir = "auto";
      return make("li", "", make("span", "quiet", `${one.reviewer.username ?? one.author_id}, ${clock(one.created)}`), words);
    }),
  );
}

function facts(event) {
  const told = {
    when: clock(event.created),
    account: event.username ?? event.user_id,
    service: event.proxied_account,
    address: event.ipaddr ?? event.origin_text,
    subject: event.ip_subject_key?.slice(0, 12),
    worker: event.worker_id,
    models: event.models.join(", "),
    text: event.text_state + (event.text_truncated ? ", clipped" : "") + (event.text_chars ? `, ${event.text_chars} characters` : ""),
  };
  const pairs = Object.entries(told).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", "facts", ...pairs.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", visible(String(value))))));
}

function eventRow(event) {
  const link = make("a", "", `Event ${event.id}`);
  link.href = `/admin/review?tab=prompts&event_id=${event.id}`;
  const title = make("h3", "", link, ` ${event.reason}, ${event.outcome}`);
  const row = make("article", "event", title, make("p", "standing"), facts(event));
  row.tabIndex = -1;
  row.dataset.marked = "";
  const toggle = button("Reveal", () => reveal(row, event.id));
  toggle.classList.add("reveal");
  const acts = [toggle, button("Note", () => write(row, event)), button("Seen", () => mark(row, event, "seen")), button("Dismiss", () => mark(row, event, "dismissed"))];
  row.append(make("div", "row", ...acts), make("div", "text"), make("ul", "notes"));
  row.acts = { r: acts[0], n: acts[1], e: acts[2], d: acts[3] };
  refresh(row, event);
  return row;
}

// --- the tabs ---

const wanted = () => new URLSearchParams(location.search);

const suspicions = (row) => row.suspicions.map((one) => `${one.name} ×${one.count}`).join(", ") || null;

async function prompts(more) {
  const query = new URLSearchParams({ limit: "25" });
  for (const [name, value] of wanted()) {
    if (!value || name === "tab") continue;
    query.append(name, name === "since" || name === "until" ? new Date(value).toISOString() : value);
  }
  if (address) query.set("ipaddr", address);
  if (more) query.set("before_id", more);
  const page = await call(`${API}/prompts?${query}`);
  const days = (count) => (count === null ? "with the record" : `${count} days`);
  const kept = page.retention;
  at("policy").textContent = `Kept: texts ${days(kept.text_days)} · addresses ${days(kept.ipaddr_days)} · identity ${days(kept.ceiling_days)}`;
  if (!page.events.length && !more) return [make("p", "quiet", wanted().get("event_id") ? "There is no such event." : "No event fits."), null];
  return [make("div", "", ...page.events.map(eventRow)), page.next_cursor];
}

async function promotions() {
  const page = await call(`${API}?limit=100`);
  const columns = {
    Account: (row) => row.username,
    "Evaluating kudos": (row) => row.evaluating_kudos,
    "Age, days": (row) => Math.floor(row.account_age / 86400),
    Workers: (row) => `${row.workers_online} of ${row.worker_count} online`,
    Suspicions: suspicions,
  };
  const rule = page.promotion_threshold === null ? "No threshold is set: nobody is promoted." : `Promoted above ${page.promotion_threshold} evaluating kudos, with fewer than ${page.suspicion_threshold} suspicions.`;
  return [make("div", "", make("p", "quiet", rule), table("Kept from trust by suspicions", columns, page.promotion_blocked_users), table("Trusted next", columns, page.promotion_eligible_users)), null];
}

async function paused() {
  const page = await call(`${API}?limit=500`);
  const columns = {
    Worker: (row) => row.name,
    Owner: (row) => row.owner,
    "Last seen": (row) => clock(row.last_check_in),
    Suspicions: suspicions,
    "": (row) =>
      button(`Unpause ${row.name}`, () =>
        attempt(async () => {
          await call(`/api/v2/workers/${row.id}`, { method: "PUT", body: JSON.stringify({ paused: false }) });
          await open();
          tell(`${row.name} gets jobs again.`);
        }),
      ),
  };
  return [table(`Paused workers, ${page.paused_workers_total} in all`, columns, page.paused_workers), null];
}

async function history(more) {
  const page = await call(`${API}/worker_suspicion_events?limit=100${more ? `&before_id=${more}` : ""}`);
  const columns = {
    When: (row) => clock(row.created),
    Worker: (row) => row.worker_name,
    Account: (row) => row.user_id,
    Reason: (row) => row.reason ?? row.suspicion_id,
    Detail: (row) => visible(row.detail),
  };
  return [table("Suspicions of workers", columns, page.events), page.next_cursor];
}

async function accesses(more) {
  const page = await call(`${API}/access_log?limit=100${more ? `&before_id=${more}` : ""}`);
  const columns = {
    When: (row) => clock(row.created),
    Moderator: (row) => row.moderator_id,
    What: (row) => row.action,
    Events: (row) => row.event_ids.join(", ") || null,
    "Looked by": (row) => row.filter_names.join(", ") || null,
  };
  return [table("Who was given what to read", columns, page.accesses), page.next_cursor];
}

async function retention() {
  const page = await call(`${API}/retention/preview`);
  const columns = {
    Step: (row) => row.step,
    "Due now": (row) => row.due_now,
    "In 7 days": (row) => row.due_in_7_days,
    "In 30 days": (row) => row.due_in_30_days,
    "Held by notes": (row) => row.held.note,
    "Held by accounts": (row) => row.held.account_status,
    "Waits for the store": (row) => row.waiting_on_store,
  };
  return [table("What the windows in force remove next", columns, page.steps), null];
}

const TABS = { prompts, promotions, paused, suspicions: history, retention, access: accesses };

async function open(more = null) {
  const tab = TABS[wanted().get("tab")] ? wanted().get("tab") : "prompts";
  for (const link of document.querySelectorAll("[data-tab]")) {
    link.toggleAttribute("aria-current", link.dataset.tab === tab);
    if (link.dataset.tab === tab) at("title").textContent = link.textContent;
  }
  at("filters").hidden = tab !== "prompts";
  at("policy").textContent = "";
  if (!more) at("shown").replaceChildren();
  const mine = (turn += 1);
  const found = await attempt(() => TABS[tab](more));
  // Somebody looked for something else meanwhile.
  if (!found || mine !== turn) return;
  const [shown, next] = found;
  at("shown").append(shown);
  cursor = next;
  at("older").hidden = !next;
}

// --- hands ---

function stir() {
  clearTimeout(idle);
  idle = setTimeout(hideAll, IDLE);
}

function current() {
  return document.activeElement.closest?.("article.event") ?? document.querySelector("article.event");
}

function press(event) {
  stir();
  if (event.key === "Escape") return hideAll();
  const isTyping = event.target.matches?.("input, select, textarea") || at("writing").open;
  if (isTyping || !at("shortcuts").checked || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...document.querySelectorAll("article.event")];
  const step = { j: 1, k: -1 }[event.key];
  if (step && rows.length) {
    const place = rows.indexOf(document.activeElement.closest?.("article.event"));
    rows[Math.min(Math.max(place + step, 0), rows.length - 1)].focus();
  } else current()?.acts[event.key]?.click();
}

at("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, at("key").value.trim());
  at("key").value = "";
  enter();
});
at("leave").addEventListener("click", () => leave());
at("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(at("filters"));
  address = given.get("ipaddr").trim();
  given.delete("ipaddr");
  const query = new URLSearchParams([["tab", "prompts"], ...[...given].filter(([, value]) => value)]);
  window.history.pushState(null, "", `/admin/review?${query}`);
  open();
});
at("older").addEventListener("click", () => open(cursor));
at("note").addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
at("words").addEventListener("input", () => {
  const count = [...at("words").value].length;
  at("count").textContent = count.toLocaleString("en");
  at("words").setCustomValidity(count > MOST ? "A note has at most 2,000 characters." : "");
});
at("cancel").addEventListener("click", () => at("writing").close());
at("shortcuts").checked = localStorage.getItem("shortcuts") !== "off";
at("shortcuts").addEventListener("change", () => localStorage.setItem("shortcuts", at("shortcuts").checked ? "on" : "off"));
document.addEventListener("keydown", press);
document.addEventListener("pointerdown", stir);
document.addEventListener("visibilitychange", () => document.hidden && hideAll());
window.addEventListener("popstate", () => open());

for (const [name, value] of wanted()) {
  const field = at("filters").elements.namedItem(name);
  if (field) field.value = value;
}
if (sessionStorage.getItem(KEY)) enter();
else leave();
