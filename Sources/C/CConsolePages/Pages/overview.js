// The pipeline at a glance: the last 15 minutes, live.

import { ask, chip, clock, command, copyButtons, grouped, h, heading, lasting, link, plain, shapeNames, show, words } from "./base.js";
import { chart } from "./charts.js";

const kinds = ["k1", "k3", "k5", "k4", "k7", "k6", "k2", "k8"];

function open(main, given, { signal }) {
  const status = h("div", { class: "status", role: "status" });
  const body = h("div", {});
  show(main, heading("Overview", "The last 15 minutes, live: what comes in, what is decided, what FCM takes, and how far each stage is behind.", copyButtons(() => command("lag"))), status, body);
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

function stacked(slots, field, given = {}) {
  const all = names(slots, field);
  const shown = all.length > kinds.length ? all.slice(0, kinds.length - 1) : all;
  const series = shown.map((name, index) => ({ name: given[name]?.name ?? words(name), kind: given[name]?.kind ?? kinds[index], values: slots.map(slot => slot[field][name] ?? 0) }));
  const rest = all.slice(shown.length);
  if (rest.length) series.push({ name: "others", kind: "k8", values: slots.map(slot => rest.reduce((sum, name) => sum + (slot[field][name] ?? 0), 0)) });
  return series;
}

const tile = (label, value, unit, more, isBad) => h("div", { class: `tile ${isBad ? "bad" : ""}` }, h("div", { class: "label" }, label), h("div", { class: "value" }, value, unit && h("span", { class: "unit" }, ` ${unit}`)), h("div", { class: "more" }, more));

const rate = number => number >= 10 ? grouped(Math.round(number)) : number.toFixed(1);

function draw(body, row) {
  // The table that is open stays open, and the place on the page stays.
  const opened = new Set([...body.querySelectorAll("details[open]")].map(details => details.dataset.name));
  const focused = document.activeElement?.closest?.("details")?.dataset.name;
  const slots = row.slots, times = slots.map(slot => slot.at), seconds = row.stepMs / 1000;
  // The last slot is not over yet.
  const whole = slots.slice(-9, -1);
  const sum = (pick, from = slots) => from.reduce((total, slot) => total + pick(slot), 0);
  const all = fields => Object.values(fields).reduce((total, number) => total + number, 0);
  const messages = sum(slot => slot.messages), decisions = sum(slot => all(slot.decisions)), pushes = sum(slot => all(slot.outcomes));
  const sent = sum(slot => slot.outcomes.sent ?? 0), letters = sum(slot => slot.deadLetters);
  const shown = sum(slot => all(slot.shapes) - (slot.shapes.none ?? 0));
  const latest = slots.findLast(slot => Number.isFinite(slot.p50));
  const worst = row.lag.reduce((most, input) => Math.max(most, input.ageMs), 0);
  const pauses = row.services.flatMap(service => Object.entries(service.pauses ?? {}).filter(([, number]) => number > 0));
  const paused = pauses.reduce((total, [, number]) => total + number, 0);
  const ready = row.services.filter(service => service.ready).length;
  show(body,
    h("div", { class: "tiles" },
      tile("Messages", rate(sum(slot => slot.messages, whole) / (whole.length * seconds || 1)), "a second", `${grouped(messages)} in 15 minutes`),
      tile("Decisions", rate(sum(slot => all(slot.decisions), whole) / (whole.length * seconds || 1)), "a second", decisions ? `${Math.round(100 * shown / decisions)} % reach a device` : "none in 15 minutes"),
      tile("Event to FCM, p50", latest ? lasting(latest.p50) : "–", "", latest ? `p99 ${lasting(latest.p99)}` : "nothing was sent"),
      tile("Pushes", grouped(pushes), "", pushes ? `${(100 * sent / pushes).toFixed(1)} % taken by FCM` : "none in 15 minutes", pushes > 20 && sent / pushes < 0.8),
      tile("Furthest behind", worst < 1000 ? "0" : lasting(worst).split(" ")[0], worst < 1000 ? "s" : lasting(worst).split(" ")[1], worst < 1000 ? "every stage is at the end" : words(row.lag.find(input => input.ageMs === worst)?.stage), worst > 60000),
      tile("Dead letters", grouped(letters), "", letters ? h("a", { href: link("dead-letters", { since: "15m" }) }, "which, and why") : "none in 15 minutes", letters > 0),
      row.services.length ? tile("FCM projects paused", grouped(paused), "", paused ? pauses.map(([reason, number]) => `${number} ${words(reason)}`).join(", ") : "none", paused > 0) : null,
      row.services.length ? tile("Services", `${ready}`, `of ${row.services.length} ready`, row.services.filter(service => !service.ready).map(service => h("div", {}, plain(service.address))), ready < row.services.length) : null),
    h("div", { class: "charts" },
      chart({ name: "Messages", more: `each ${seconds} s`, slots: times, series: [{ name: "messages", kind: "k1", values: slots.map(slot => slot.messages) }] }),
      chart({ name: "How they appeared", more: "one a person and message", slots: times, series: stacked(slots, "shapes", { alert: { name: shapeNames.alert, kind: "k2" }, silent: { name: shapeNames.silent, kind: "k3" }, badge: { name: shapeNames.badge, kind: "k4" }, none: { name: shapeNames.none, kind: "k8" } }) }),
      chart({ name: "Decisions by reason", slots: times, series: stacked(slots, "decisions") }),
      chart({ name: "Event to FCM", more: "from the message's own time", slots: times, stacked: false, unit: " ms", series: [{ name: "p50", kind: "k1", values: slots.map(slot => slot.p50 ?? null) }, { name: "p99", kind: "k2", values: slots.map(slot => slot.p99 ?? null) }] }),
      chart({ name: "Pushes by end state", more: "one a device", slots: times, series: stacked(slots, "outcomes", { sent: { name: "taken by FCM", kind: "k5" }, taken: { name: "taken by FCM", kind: "k5" }, arrived: { name: "arrived", kind: "k3" }, opened: { name: "opened", kind: "k1" }, rejected: { name: "rejected", kind: "k2" } }) }),
      chart({ name: "Lag", more: "age of the oldest record that waits, since this page was opened", slots: times, stacked: false, unit: " s", shown: value => value >= 10 ? String(Math.round(value)) : value.toFixed(1), series: [...new Set(row.lag.map(input => input.stage))].map((stage, index) => ({ name: stage, kind: ["k1", "k3", "k4"][index] ?? "k8", values: slots.map(slot => slot.lag[stage] === undefined ? null : slot.lag[stage] / 1000) })) }),
      letters ? chart({ name: "Dead letters", slots: times, series: [{ name: "dead letters", kind: "k2", values: slots.map(slot => slot.deadLetters) }] }) : null));
  for (const details of body.querySelectorAll("details")) {
    details.open = opened.has(details.dataset.name);
    if (details.dataset.name === focused) details.querySelector("summary").focus({ preventScroll: true });
  }
}

export const overview = { title: "Overview", open };
