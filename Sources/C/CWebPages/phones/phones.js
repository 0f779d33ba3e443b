// The phones as their owners see them: what FCM and Web Push have delivered, and the app where it is open.

import { App } from "./app.js";
import { align, by, clock, count, icon, make } from "./dom.js";
import { Screen } from "./screen.js";
import { systems, why } from "./why.js";

/** A browser keeps six connections to an address. Each open app holds one, and its events need some. */
const mostApps = 4;

const phones = new Map();
const empty = by("empty");
const presentations = { alert: ["bell", "alert, with a sound"], silent: ["mute", "silent, in the list"] };
const hue = text => { let h = 0; for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360; return h; };
let version = 0;

function card(view) {
  let phone = phones.get(view.number);
  if (!phone) {
    phone = { view, el: make("section", "phone") };
    phone.app = new App(view.number, () => draw(phone));
    phone.screen = new Screen(phone.app);
    phones.set(view.number, phone);
    phone.el.append(make("div", "top"), make("div", "list"), phone.screen.element, dock(phone));
    phone.el.style.order = phones.size;
    by("main").append(phone.el);
    phone.el.addEventListener("animationend", () => phone.el.classList.remove("rang"));
    phone.app.delivered(view, null);
  } else {
    const former = phone.view;
    if (view.sounds > former.sounds) {
      phone.el.classList.remove("rang");
      void phone.el.offsetWidth;
      phone.el.classList.add("rang");
    }
    phone.view = view;
    phone.app.delivered(view, former);
  }
  draw(phone);
}

function dock(phone) {
  const element = make("div", "dock"), button = make("button", "open"), picture = make("span", "icon");
  button.type = "button";
  picture.append(icon("bubble"), make("span", "badge"));
  button.append(picture, make("span", "word"));
  button.addEventListener("click", () => phone.app.isOpen ? close(phone) : open(phone));
  element.append(button, make("span", "sum"));
  return element;
}

function open(phone) {
  const opened = [...phones.values()].filter(({ app }) => app.isOpen).length;
  if (opened < mostApps) phone.app.open(); else phone.app.refuse(`${mostApps} apps are open, as many as a browser has connections for. Close one of them first.`);
  phone.screen.focus();
}

function close(phone) {
  phone.app.close();
  phone.el.querySelector(".dock .open").focus();
}

function draw(phone) {
  const { app, el, view } = phone;
  const [top, list, , bottom] = el.children;
  el.style.setProperty("--hue", hue(view.owner));
  el.dataset.number = view.number;
  el.setAttribute("aria-label", `Phone ${view.number} of ${view.owner}`);
  top.replaceChildren(make("div", "who", view.owner), make("div", "what", `${systems[view.platform]}${view.appDraws ? ", drawn by the app" : ""} · phone ${view.number}`));
  list.hidden = app.isOpen;
  phone.screen.draw(view.owner);
  drawList(list, view, view.entries.filter(entry => !app.hasTakenAway(entry)));
  const badge = bottom.querySelector(".badge");
  badge.hidden = !(app.badge > 0);
  badge.textContent = app.badge > 999 ? "999+" : String(app.badge);
  const button = bottom.querySelector(".open");
  button.setAttribute("aria-label", `${app.isOpen ? "Close" : "Open"} the app of ${view.owner}`);
  button.querySelector(".word").textContent = app.isOpen ? "Close" : "Open";
  // Every push is one of these.
  const parts = [[view.sounds, "with a sound"], [view.silentPushes, "silent"], [view.badgePushes, "badge only"], [view.removals, "read or deleted"], [view.dropped, "dropped: the system shows 50"]];
  bottom.querySelector(".sum").textContent = `${count(view.pushes, "push", "pushes")}: ${parts.filter(([number]) => number).map(([number, what]) => `${number} ${what}`).join(" · ")}`;
}

function drawList(list, view, entries) {
  const known = new Map([...list.querySelectorAll("[data-key]")].map(element => [element.dataset.key, element]));
  const kept = (key, fresh) => { const element = known.get(key) ?? fresh(); element.dataset.key = key; return element; };
  const threads = new Map();
  for (const entry of entries) (threads.get(entry.thread) ?? threads.set(entry.thread, []).get(entry.thread)).push(entry);
  const groups = [...threads].map(([thread, entries]) => {
    const group = kept(`thread ${thread}`, () => make("div", "thread"));
    const notes = entries.slice(0, 3).map(entry => kept(`note ${entry.pushId} ${entry.tag} ${entry.replaced}`, () => note(entry, view)));
    if (entries.length > 3) {
      const more = kept(`more ${thread}`, () => make("div", "more"));
      more.textContent = `${entries.length - 3} more in this conversation`;
      notes.push(more);
    }
    return { group, notes };
  });
  align(list, groups.length ? groups.map(({ group }) => group) : [kept("quiet", () => make("div", "quiet", "nothing on the lock screen"))]);
  for (const { group, notes } of groups) align(group, notes);
}

function note(entry, view) {
  const el = make("button", `note ${entry.presentation}`);
  el.dataset.tag = entry.tag;
  const head = make("div", "head");
  head.append(make("span", "title", entry.title || "(no title)"), make("span", "when", clock(entry.at)));
  el.append(head, make("div", "body", entry.body));
  const [sign, words] = presentations[entry.presentation] ?? ["mute", entry.presentation];
  const marks = make("div", "marks");
  marks.append(icon(sign), words);
  if (entry.hasPicture) marks.append(" · ", icon("picture"), "picture");
  if (entry.replaced) marks.append(" · ", icon("again"), `replaced ${entry.replaced === 1 ? "once" : `${entry.replaced} times`}`);
  el.append(marks);
  el.addEventListener("click", () => why(entry, view));
  return el;
}

let arrangedAt = 0;
function arrange() {
  arrangedAt = Date.now();
  const most = by("order").value === "entries";
  const all = [...phones.values()].sort((a, b) => most ? b.view.entries.length - a.view.entries.length || a.view.number - b.view.number : a.view.number - b.view.number);
  all.forEach((phone, index) => { phone.el.style.order = index; });
}

function filter() {
  const wanted = by("filter").value.trim();
  let shown = 0;
  for (const phone of phones.values()) {
    phone.el.hidden = !phone.view.owner.toLowerCase().includes(wanted.toLowerCase());
    if (!phone.el.hidden) shown += 1;
  }
  by("nobody").hidden = shown > 0 || !phones.size;
  by("nobody").textContent = by("nobody").hidden ? "" : `No phone of “${wanted}”. ${phones.size === 1 ? "One phone has" : `${phones.size} phones have`} got a push.`;
}

function forget() {
  for (const { app } of phones.values()) if (app.isOpen) app.close();
  phones.clear();
  by("main").replaceChildren(empty, by("nobody"));
}

async function follow() {
  for (;;) {
    try {
      const response = await fetch(`phones?after=${version}`);
      if (!response.ok) throw new Error(response.status);
      const changes = await response.json();
      // A smaller version means a new emulator.
      if (changes.version < version) forget();
      version = changes.version;
      changes.phones.forEach(card);
      if (phones.size) empty.remove();
      filter();
      // Phones that keep moving cannot be read, least of all the one that is being looked at.
      if (Date.now() - arrangedAt > 3000 && !by("main").matches(":hover, :focus-within")) arrange();
      by("phones").textContent = changes.phoneCount;
      by("pushes").textContent = changes.pushes;
      by("sounds").textContent = [...phones.values()].reduce((sum, phone) => sum + phone.view.sounds, 0);
      by("state").textContent = "live";
      by("state").classList.remove("off");
      // Nobody sees faster changes.
      await new Promise(done => setTimeout(done, 300));
    } catch {
      by("state").textContent = "the emulator has ended";
      by("state").classList.add("off");
      await new Promise(done => setTimeout(done, 2000));
    }
  }
}

by("filter").addEventListener("input", filter);
by("order").addEventListener("change", arrange);
document.addEventListener("visibilitychange", () => { for (const { app } of phones.values()) if (app.isOpen) app.seen(!document.hidden); });
addEventListener("pagehide", () => { for (const { app } of phones.values()) if (app.isOpen) app.close(); });
// The API was not known yet when this page was loaded, or has another address now.
document.addEventListener("securitypolicyviolation", () => {
  for (const { app } of phones.values()) if (app.isOpen) app.refuse("The HTTP API has another address than when this page was loaded: load the page again.");
});
follow();
