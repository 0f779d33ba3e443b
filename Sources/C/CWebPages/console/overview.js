// The pipeline at a glance: the last 15 minutes, live.

import { ask, chip, clock, command, copyButtons, grouped, h, heading, lasting, link, plain, shapeNames, show, words } from "./base.js";
import { chart } from "./charts.js";
import { ends } from "./funnel.js";

const kinds = ["k1", "k3", "k5", "k4", "k7", "k6", "k2", "k8"];

function open(main, given, { signal }) {
  const status = h("div", { class: "status", role: "status" });
  const body = h("div", {});
  show(main, heading("Overview", "The last 15 minutes, live: what comes in, what is decided, what FCM takes, what arrives, and how far each stage is behind.", copyButtons(() => command("lag"))), status, body);
  follow(status, body, signal);
}

async function follow(status, body, signal) {
  const text = h("span", {}, "Reading the last 15 minutes…");
  show(status, h("span", { class: "spin", "aria-hidden": "true" }), text);
  while (!signal.aborted) {
    try {
      await ask("overview", {}, { signal, progress: progress => { if (progress) text.textContent = plain(progress); }, row: row => {
        if (row.row !== "overview" || signal.aborted) return;
        show(status, chip("live", "good"), h("span", {}, `as of ${clock(row.now, false)}`), row.notes.map(note => h("span", {}, plain(note))));
        draw(body, row);
      } });
      return;
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      show(status, chip("not live", "bad"), h("span", {}, plain(error.message)));
      if (error.status === 401) { window.dispatchEvent(new Event("needs-token")); return; }
      await new Promise(done => setTimeout(done, 3000));
    }
  }
}

const names = (slots, field) => {
  const sums = {};
  for (const slot of slots) for (const [name, number] of Object.entries(slot[field])) sums[name] = (sums[name] ?? 0) + number;
  return Object.entries(sums).sort((a, b) => b[1] - a[1]).map(([name]) => name);
};

/** The colour of each name of a field, kept while the page is open: a name that overtakes another does not take its colour. */
const colours = {};

function stacked(slots, field, given = {}) {
  const all = names(slots, field);
  const known = colours[field] ??= new Map();
  for (const name of all) if (!known.has(name) && known.size < kinds.length - 1) known.set(name, kinds[known.size]);
  const shown = [...known.keys()].filter(name => all.includes(name));
  const series = shown.map(name => ({ name: given[name]?.name ?? words(name), kind: given[name]?.kind ?? known.get(name), values: slots.map(slot => slot[field][name] ?? 0) }));
  const rest = all.filter(name => !known.has(name));
  if (rest.length) series.push({ name: "others", kind: "k8", values: slots.map(slot => rest.reduce((sum, name) => sum + (slot[field][name] ?? 0), 0)) });
  return series;
}

const tile = (label, value, unit, more, isBad) => h("div", { class: `tile ${isBad ? "bad" : ""}` }, h("div", { class: "label" }, label), h("div", { class: "value" }, value, unit && h("span", { class: "unit" }, ` ${unit}`)), h("div", { class: "more" }, more));

const latencies = (slots, field) => [["p50", "k1"], ["p99", "k2"]].map(([name, kind]) => ({ name, kind, values: slots.map(slot => slot[field]?.[name] ?? null) }));

/** The latest figure; one that is older than a minute stands no longer for now. */
function latency(label, row, field, none) {
  const slot = row.slots.findLast(slot => slot[field]);
  if (!slot) return tile(label, "–", "", none);
  const age = row.now - slot.at - row.stepMs;
  const { p50, p99 } = slot[field];
  return age > 60000 ? tile(label, "–", "", `none for ${lasting(age)}; before: p50 ${lasting(p50)}, p99 ${lasting(p99)}`) : tile(label, lasting(p50), "", `p99 ${lasting(p99)}`);
}

const rate = number => number >= 10 ? grouped(Math.round(number)) : number.toFixed(1);

/** Tells an element of one drawing in the next one. */
const nameOf = element => [element.tagName, element.getAttribute("href"), element.closest("details")?.dataset.name].join(" ");

function draw(body, row) {
  // The table that is open stays open, and the focus where it is.
  const opened = new Set([...body.querySelectorAll("details[open]")].map(details => details.dataset.name));
  const focused = body.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  const slots = row.slots, times = slots.map(slot => slot.at), seconds = row.stepMs / 1000;
  // The last slot is not over yet.
  const whole = slots.slice(-5, -1), minute = `a second, in the last ${lasting(whole.length * row.stepMs)}`;
  const sum = (pick, from = slots) => from.reduce((total, slot) => total + pick(slot), 0);
  const all = fields => Object.values(fields).reduce((total, number) => total + number, 0);
  const messages = sum(slot => slot.messages), decisions = sum(slot => all(slot.decisions)), pushes = sum(slot => all(slot.ends));
  const ended = name => sum(slot => slot.ends[name] ?? 0);
  const failed = ended("failed"), letters = sum(slot => slot.deadLetters);
  const shown = sum(slot => all(slot.shapes) - (slot.shapes.none ?? 0));
  const waits = row.pushes;
  const worst = row.lag.reduce((most, input) => Math.max(most, input.ageMs), 0);
  const pauses = row.services.flatMap(service => Object.entries(service.pauses ?? {}).filter(([, number]) => number > 0));
  const paused = pauses.reduce((total, [, number]) => total + number, 0);
  const ready = row.services.filter(service => service.ready).length;
  show(body,
    h("div", { class: "tiles" },
      tile("Messages", rate(sum(slot => slot.messages, whole) / (whole.length * seconds || 1)), minute, `${grouped(messages)} in 15 minutes`),
      waits ? tile("Pushes without an outcome", `${waits.isPartial ? "≥ " : ""}${grouped(waits.waiting)}`, "", waits.waiting ? `the oldest decided ${lasting(waits.age)} ago${waits.isStanding ? waits.sinceJudged === undefined ? "; none was taken" : `; none was taken for ${lasting(waits.sinceJudged)}` : ""}` : "all have left", waits.isStanding) : null,
      tile("Decisions", rate(sum(slot => all(slot.decisions), whole) / (whole.length * seconds || 1)), minute, decisions ? `${Math.round(100 * shown / decisions)} % reach a device` : "none in 15 minutes"),
      latency("Event to FCM, p50", row, "taken", "nothing was sent"),
      latency("Event to arrival, p50", row, "arrived", "no device reported one"),
      tile("Pushes", grouped(pushes), "", pushes ? h("a", { href: link("funnel", { since: "15m" }) }, `${(100 * ended("opened") / pushes).toFixed(1)} % opened, ${(100 * failed / pushes).toFixed(1)} % failed`) : "none in 15 minutes", pushes > 20 && failed / pushes > 0.2),
      tile("Furthest behind", worst < 1000 ? "0" : lasting(worst).split(" ")[0], worst < 1000 ? "s" : lasting(worst).split(" ")[1], worst < 1000 ? "every stage has read its input" : words(row.lag.find(input => input.ageMs === worst)?.stage), worst > 60000),
      tile("Dead letters", grouped(letters), "", letters ? h("a", { href: link("dead-letters", { since: "15m" }) }, "which, and why") : "none in 15 minutes", letters > 0),
      row.services.length ? tile("FCM projects paused", grouped(paused), "", paused ? pauses.map(([reason, number]) => `${number} ${words(reason)}`).join(", ") : "none", paused > 0) : null,
      row.level ? tile("Level", `${row.level.inForce}`, row.level.inForce < row.level.latest ? `${row.level.latest} can be finalised` : "the latest", row.level.releases.map(release => h("div", {}, plain(release)))) : null,
      row.services.length ? tile("Services", `${ready}`, `of ${row.services.length} ready`, row.services.filter(service => !service.ready).map(service => h("div", {}, plain(service.address))), ready < row.services.length) : null),
    h("div", { class: "charts" },
      chart({ name: "Messages", more: `each ${seconds} s`, slots: times, series: [{ name: "messages", kind: "k1", values: slots.map(slot => slot.messages) }] }),
      chart({ name: "How they appeared", more: "one a person and message", slots: times, series: stacked(slots, "shapes", { alert: { name: shapeNames.alert, kind: "k2" }, silent: { name: shapeNames.silent, kind: "k3" }, badge: { name: shapeNames.badge, kind: "k4" }, none: { name: shapeNames.none, kind: "k8" } }) }),
      chart({ name: "Decisions by reason", slots: times, series: stacked(slots, "decisions") }),
      chart({ name: "Event to FCM", more: "from the message's own time", slots: times, stacked: false, unit: " ms", series: latencies(slots, "taken") }),
      chart({ name: "Event to arrival", more: "as devices report it", slots: times, stacked: false, unit: " ms", series: latencies(slots, "arrived") }),
      chart({ name: "Pushes by end state", more: "one a device, in the slot of its decision", slots: times, series: ends.map(([name, kind]) => ({ name: name === "taken" ? "taken by FCM" : name, kind, values: slots.map(slot => slot.ends[name] ?? 0) })) }),
      chart({ name: "Outcomes", more: "the dispatcher's, one a push and device", slots: times, series: stacked(slots, "outcomes", { sent: { name: "taken by FCM", kind: "k5" }, rejected: { name: "rejected", kind: "k2" } }) }),
      chart({ name: "Lag", more: "age of the oldest record that waits, since this page was opened", slots: times, stacked: false, unit: " s", shown: value => value >= 10 ? String(Math.round(value)) : value.toFixed(1), series: [...new Set(row.lag.map(input => input.stage))].map((stage, index) => ({ name: stage, kind: ["k1", "k3", "k4"][index] ?? "k8", values: slots.map(slot => slot.lag[stage] === undefined ? null : slot.lag[stage] / 1000) })) }),
      letters ? chart({ name: "Dead letters", slots: times, series: [{ name: "dead letters", kind: "k2", values: slots.map(slot => slot.deadLetters) }] }) : null));
  for (const details of body.querySelectorAll("details")) {
    details.open = opened.has(details.dataset.name);
  }
  if (focused) [...body.querySelectorAll("a[href], summary, [tabindex]")].find(element => nameOf(element) === focused)?.focus({ preventScroll: true });
}

export const overview = { title: "Overview", open };
