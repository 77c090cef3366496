// What review.js builds with: elements whose text is always text, and texts that are proved before they are shown.

// Controls, marks of direction and what has no width: people use them against filters and readers.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export class Refused extends Error {}

export function make(tag, className, ...inside) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...inside.filter((part) => part !== null && part !== undefined));
  return made;
}

export function button(text, act) {
  const made = make("button", "", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

export const visible = (text) =>
  text.replace(HIDDEN, (sign) => `⟦U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`);
export const clock = (iso) => new Date(iso).toISOString().replace("T", " ").slice(0, 19) + " UTC";

export function table(caption, columns, rows) {
  if (!rows.length) return make("p", "quiet", `${caption}: none.`);
  const head = make("tr", "", ...Object.keys(columns).map((name) => Object.assign(make("th", "", name), { scope: "col" })));
  const lines = rows.map((row) => make("tr", "", ...Object.values(columns).map((of) => make("td", "", of(row) ?? "–"))));
  const box = make("div", "scroll", make("table", "", make("caption", "", caption), make("thead", "", head), make("tbody", "", ...lines)));
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", caption);
  return box;
}

// The text of an event from the evidence store; `again` asks for a fresh link, once. No texts: they are not what was recorded.
export async function stored(event, again) {
  const options = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" };
  const response = await fetch(event.text_url, options).catch(() => null);
  if (!response) throw new Refused("The evidence store cannot be reached from here.");
  if (response.status === 404) throw new Refused(`Object missing: the store has no text of event ${event.id}.`);
  if (response.status === 403 && again) return stored(await again(), null);
  if (!response.ok) throw new Refused(`The evidence store answered ${response.status}.`);
  const bytes = await response.arrayBuffer();
  if (!crypto.subtle) return { texts: JSON.parse(new TextDecoder().decode(bytes)), proof: "not verifiable here" };
  const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))];
  const isSame = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("") === event.text_sha256;
  return { texts: isSame ? JSON.parse(new TextDecoder().decode(bytes)) : null, proof: "digest verified", bytes };
}
