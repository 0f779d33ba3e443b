// The frame: pages, links, keys.

import { add, cut, facts, h, link, request, say, setToken, show, switchZone, takeToken, zone } from "./base.js";
import { funnel } from "./funnel.js";
import { letters } from "./letters.js";
import { live } from "./live.js";
import { message } from "./message.js";
import { overview } from "./overview.js";
import { person } from "./person.js";
import { phones } from "./phones.js";
import { policy } from "./policy.js";
import { replays } from "./replays.js";

const pages = { overview, live, person, message, funnel, "dead-letters": letters, replays, policy, phones };
const main = document.getElementById("main");
const nav = document.getElementById("nav");
let leaving = new AbortController();
let current;

function read() {
  const [page, query] = location.hash.slice(1).split(/\?(.*)/s);
  return { page: Object.hasOwn(pages, page) ? page : "overview", parameters: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

function turn() {
  const { page, parameters } = read();
  leaving.abort();
  leaving = new AbortController();
  const isSamePage = current === page;
  current = page;
  for (const item of nav.children) {
    if (item.dataset.page === page) item.setAttribute("aria-current", "page"); else item.removeAttribute("aria-current");
  }
  document.title = `${pages[page].title} · Nudge console`;
  const go = (changes, replace) => {
    const target = link(page, changes);
    if (replace) history.replaceState(null, "", target); else if (location.hash === target) turn(); else location.hash = target;
  };
  show(main);
  pages[page].open(main, parameters, { signal: leaving.signal, go });
  if (!isSamePage) window.scrollTo(0, 0);
}

function frame() {
  for (const [name, page] of Object.entries(pages)) {
    if (name === "phones" && !facts.phones) continue;
    nav.append(h("a", { href: `#${name}`, "data-page": name }, page.title));
  }
  const cluster = document.getElementById("cluster");
  cluster.textContent = cut(facts.bootstrapServers + (facts.topicPrefix ? ` · ${facts.topicPrefix}` : ""), 60);
  cluster.title = `nudge ${facts.version}`;
  const mode = document.getElementById("mode");
  mode.textContent = facts.allowsActions ? "actions allowed" : "read-only";
  mode.classList.add(facts.allowsActions ? "bad" : "good");
}

// MARK: Keys

const keys = [
  ["g then 1 to 9", "a page, in their order"], ["/", "the first field of the page"], ["j  k", "the next, the former moment or row"],
  ["Enter", "open what is chosen"], ["c", "copy as command"], ["l", "copy a link to this view"], ["?", "these keys"], ["Esc", "leave a field, close a dialog"],
];

let awaitsPage = false;
function press(event) {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "Escape" && isTyping) { event.target.blur(); main.focus(); return; }
  // The field that / leads to has the focus already, as after a page was opened by its key.
  if (event.key === "/" && isTyping && event.target.value === "" && event.target === main.querySelector("input, select, textarea")) { event.preventDefault(); return; }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (awaitsPage) {
    awaitsPage = false;
    event.preventDefault();
    nav.children[Number(event.key) - 1]?.click();
    return;
  }
  switch (event.key) {
    case "g": awaitsPage = true; setTimeout(() => { awaitsPage = false; }, 1500); return;
    case "/": {
      const first = main.querySelector("input, select, textarea");
      if (first) { event.preventDefault(); first.focus(); first.select?.(); }
      return;
    }
    case "?": document.getElementById("keys").showModal(); return;
    case "j": case "k": {
      const all = [...main.querySelectorAll("[data-step]")];
      const at = all.indexOf(document.activeElement.closest?.("[data-step]"));
      const next = all[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
      if (next) { event.preventDefault(); next.focus(); next.scrollIntoView({ block: "nearest" }); }
      return;
    }
    case "c": case "l": main.querySelector(`[data-key="${event.key}"]`)?.click(); return;
  }
}

// MARK: Start

function askForToken() {
  const input = h("input", { type: "password", name: "token", autocomplete: "off", required: true });
  show(main, h("form", { class: "card stack", onsubmit: async event => {
    event.preventDefault();
    try { await setToken(input.value); } catch (error) { say(error.status === 401 ? "That token is not right" : error.message); return; }
    await start();
  } }, h("h1", {}, "This console needs its token"),
  h("p", { class: "dim" }, "nudge console printed a link with it when it began. Ask who runs it."),
  h("label", { class: "field" }, "Token", input), h("div", { class: "actions" }, h("button", { class: "primary" }, "Go on"))));
  input.focus();
}

async function start() {
  try {
    Object.assign(facts, JSON.parse(await request("GET", "api/console")));
  } catch (error) {
    if (error.status === 401) { askForToken(); return; }
    show(main, h("div", { class: "notice bad", role: "alert" }, error.message));
    return;
  }
  show(nav);
  frame();
  turn();
}

const list = document.getElementById("keys-list");
for (const [key, what] of keys) add(list, [h("dt", {}, key), h("dd", {}, what)]);
const zones = document.getElementById("zone");
zones.textContent = zone();
zones.addEventListener("click", () => {
  switchZone();
  zones.textContent = zone();
  say(`All times are in ${zone()}`);
  if (nav.children.length) turn();
});
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
document.addEventListener("keydown", press);
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) takeToken().then(start); else if (nav.children.length) turn();
});
window.addEventListener("needs-token", askForToken);
takeToken().then(start);
