// Elements, words, requests. Texts from records become text nodes only; nothing here writes markup.

export const facts = { key: "", version: "", bootstrapServers: "", topicPrefix: "", allowsActions: false, showsTexts: false, phones: null };

/** An element. Properties: `class`, `on…` handlers, `value`, `checked`…; the rest are attributes. Children: nodes or texts. */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (["value", "checked", "disabled", "selected", "open", "htmlFor", "hidden"].includes(key)) element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
  return element;
}

export const show = (place, ...children) => { place.replaceChildren(); return add(place, children); };

// MARK: Texts

const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text of a record without characters that turn, hide or break what stands beside it, with its times in the page's zone. */
export const plain = text => zoned(String(text ?? "").replace(invisible, c => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`));

/** The same, cut for a line. */
export function cut(text, most = 160) {
  const all = [...plain(text)];
  return all.length <= most ? all.join("") : all.slice(0, most).join("") + "…";
}

/** An id or a name: apart from the direction of its surroundings. */
export const id = (text, most = 160) => h("bdi", { class: "id", title: [...String(text ?? "")].length > most ? plain(text) : undefined }, cut(text, most));

export const chip = (text, kind) => h("span", { class: `chip ${kind ?? ""}` }, text);

export const words = name => String(name ?? "").replaceAll("_", " ");

export const grouped = number => Number(number).toLocaleString("en");

export const count = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many ?? one + "s"}`;

const two = number => String(number).padStart(2, "0");

// All times are in one zone: UTC, as the commands and the logs have it, or the reader's own.
let isLocal = false;
try { isLocal = localStorage.getItem("nudge-zone") === "local"; } catch { /* It is not kept. */ }

/** The zone's name, for the button that switches it. */
export const zone = () => isLocal ? Intl.DateTimeFormat().resolvedOptions().timeZone ?? "local" : "UTC";

export function switchZone() {
  isLocal = !isLocal;
  try { localStorage.setItem("nudge-zone", isLocal ? "local" : "UTC"); } catch { /* It is not kept. */ }
}

/** The parts of a time, as text of UTC or of the reader's zone: year to milliseconds. */
const partsOf = at => {
  const date = new Date(at);
  return isLocal
    ? [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate()), two(date.getHours()), two(date.getMinutes()), two(date.getSeconds()), String(date.getMilliseconds()).padStart(3, "0")]
    : [date.getUTCFullYear(), two(date.getUTCMonth() + 1), two(date.getUTCDate()), two(date.getUTCHours()), two(date.getUTCMinutes()), two(date.getUTCSeconds()), String(date.getUTCMilliseconds()).padStart(3, "0")];
};

/** A sentence with its times (`2026-11-22T10:30:00.000Z`) in the page's zone. */
const zoned = text => isLocal ? text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g, found => Number.isFinite(Date.parse(found)) ? moment(Date.parse(found)) : found) : text;

/** The time of a day, to the millisecond. */
export function clock(at, withMilliseconds = true) {
  const [, , , hour, minute, second, milliseconds] = partsOf(at);
  return `${hour}:${minute}:${second}${withMilliseconds ? `.${milliseconds}` : ""}`;
}

export const day = at => partsOf(at).slice(0, 3).join("-");

export const moment = at => `${day(at)} ${clock(at, false)}`;

/** A `time` element with the time in the page's zone, and in UTC on a closer look. */
export const time = (at, text) => Number.isFinite(at) ? h("time", { datetime: new Date(at).toISOString(), title: new Date(at).toISOString() }, text ?? moment(at)) : h("span", {}, "?");

export function lasting(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 100) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  return minutes / 60 < 48 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

/** What a value of a record says, in a line. */
export function shown(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, field]) => `${name}: ${shown(field)}`).join(", ")}}`;
  return String(value);
}

export const shape = decision => decision?.outcome === "deferred" ? "held" : decision?.outcome !== "notify" ? "none" : decision.presentation ?? { high: "alert", medium: "silent", low: "badge" }[decision.priority] ?? "silent";

export const shapeNames = { alert: "Alert", silent: "Silent", badge: "Badge only", held: "Held", none: "Not shown" };

export const place = record => `${record.position.topic}-${record.position.partition}@${record.position.offset}`;

// MARK: Commands to copy

/** A word for a POSIX shell; control characters need the quotes of bash. */
export function quoted(text) {
  const word = String(text);
  if (word !== "" && /^[A-Za-z0-9_.:@%+,=/-]+$/.test(word)) return word;
  if (/[\u0000-\u001f\u007f]/.test(word)) {
    return "$'" + word.replace(/[\\']/g, "\\$&").replace(/[\u0000-\u001f\u007f]/g, c => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`) + "'";
  }
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line of `nudge` with the console's own cluster. Flags: pairs; true: without a value; null: left out. */
export function command(name, flags = [], words = []) {
  const parts = ["nudge", ...name.split(" "), ...words.map(quoted)];
  const all = [...flags, ["bootstrap-servers", facts.bootstrapServers], ["topic-prefix", facts.topicPrefix || null]];
  for (const [flag, value] of all) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    if (value === true) parts.push(`--${flag}`);
    else if (String(value).startsWith("-")) parts.push(`--${flag}=${quoted(value)}`);
    else parts.push(`--${flag}`, quoted(value));
  }
  return parts.join(" ");
}

let saidTimer;
/** Says something briefly, also to a screen reader. */
export function say(text) {
  const said = document.getElementById("said");
  said.textContent = text;
  said.classList.add("shown");
  clearTimeout(saidTimer);
  saidTimer = setTimeout(() => said.classList.remove("shown"), 2600);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS browsers give the clipboard to localhost only.
    const area = h("textarea", { class: "code", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied`);
}

/** The buttons that every view has. `text` is called when they are pressed. */
export function copyButtons(text) {
  return h("div", { class: "actions" },
    h("button", { type: "button", "data-key": "l", title: "Copy a link to this view (l)", onclick: () => copy(location.href, "Link") }, "Copy link"),
    h("button", { type: "button", "data-key": "c", title: "Copy the command that says the same (c)", "data-command": "", onclick: () => copy(text(), "Command") }, "Copy as command"));
}

export const heading = (title, lead, buttons) => h("div", { class: "head" }, h("div", { class: "grow" }, h("h1", {}, title), lead && h("p", { class: "lead" }, lead)), buttons);

export const field = (label, input, more) => h("label", { class: `field ${more ?? ""}` }, label, input);

export function select(name, options, value) {
  const element = h("select", { name }, options.map(option => h("option", { value: option[0] }, option[1])));
  element.value = options.some(option => option[0] === value) ? value : options[0][0];
  return element;
}

export function table(columns, rows, caption) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, h("table", {},
    h("thead", {}, h("tr", {}, columns.map(column => h("th", { scope: "col", class: column.num ? `num ${column.first ? "first" : ""}` : undefined }, column.name ?? column)))),
    h("tbody", {}, rows)));
}

export const cells = (...values) => values.map(value => value instanceof HTMLTableCellElement ? value : h("td", {}, value));
export const num = value => h("td", { class: "num" }, typeof value === "number" ? grouped(value) : value);

/** A view's link: the page and its parameters. */
export function link(page, parameters = {}) {
  const text = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "")).toString();
  return `#${page}${text ? `?${text}` : ""}`;
}

// MARK: Requests

export class Refused extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
}

/** Takes the token out of the address, `#token=TOKEN&page?…`, and changes it for a cookie that scripts cannot read. */
export async function takeToken() {
  const given = /^#token=([^&]*)(?:&(.*))?$/s.exec(location.hash);
  if (!given) return;
  history.replaceState(null, "", location.pathname + (given[2] ? `#${given[2]}` : ""));
  await setToken(given[1]).catch(() => { /* The next request says so. */ });
}
export const setToken = token => request("POST", "api/session", { token });

export async function request(method, path, body, signal) {
  const headers = {};
  if (method !== "GET") headers["X-Nudge-Console"] = facts.key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, cache: "no-store", credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0, "unreachable", "The console does not answer: has `nudge console` ended?");
  }
  const text = await response.text();
  if (!response.ok) {
    let answer = {};
    try { answer = JSON.parse(text); } catch { /* a proxy's own page */ }
    throw new Refused(response.status, answer.code ?? "unknown", answer.message ?? `HTTP ${response.status}`);
  }
  return text;
}

/**
 * Asks a question that takes a while: `row` gets each row as it comes, `progress` what is being read.
 * Ends with the last row, or throws. An aborted question is taken back from the console, too.
 */
export async function ask(question, parameters, { row = () => {}, progress = () => {}, signal } = {}) {
  const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "").map(([name, value]) => [name, String(value)]));
  const { job } = JSON.parse(await request("POST", "api/jobs", { ask: question, with: given }, signal));
  signal?.addEventListener("abort", () => request("DELETE", `api/jobs/${job}`).catch(() => {}));
  let next = 0, last;
  for (;;) {
    const lines = (await request("GET", `api/jobs/${job}?after=${next}`, undefined, signal)).split("\n").filter(Boolean).map(line => JSON.parse(line));
    const state = lines.pop();
    for (const line of lines) { last = line; row(line); }
    next = state.next;
    progress(state.progress ?? "");
    if (state.error) throw new Refused(200, "failed", state.error);
    if (state.done) return last;
  }
}

/** Runs a view's question, with its state in a line above the answer. */
export async function run(status, work) {
  const text = h("span", {}, "Asking…");
  show(status, h("span", { class: "spin", "aria-hidden": "true" }), text);
  try {
    await work(progress => { text.textContent = progress ? plain(progress) : "Asking…"; });
    show(status);
  } catch (error) {
    if (error.name === "AbortError") return;
    show(status, h("div", { class: "notice bad", role: "alert" }, plain(error.message)));
    if (error.status === 401) window.dispatchEvent(new Event("needs-token"));
  }
}
