// A phone as it would look at a moment, as far as the records tell.

import { clock, day, h, plain, shape, show } from "./base.js";

const at = placed => placed.record.finishedAt ?? placed.record.occurredAt ?? placed.timestamp;
export const eventTime = placed => placed.record.occurredAt ?? placed.timestamp;

/** The devices of an answer: those of the state, then those that pushes name. */
export function devicesOf(answer) {
  const names = (answer.devices ?? []).map(device => device.deviceId);
  for (const story of answer.stories) for (const device of story.devices) if (!names.includes(device.deviceId)) names.push(device.deviceId);
  return names;
}

/** When a notification left a device, and why; null: it is still there, or was never shown. */
function removal(story, device, pushId, since) {
  for (const { record: { state, deviceId, pushId: other, occurredAt } } of story.receipts) {
    if (state !== "arrived" && deviceId === device && other === pushId) return { at: Math.max(occurredAt, since), why: state };
  }
  for (const event of story.later) {
    const { type, deviceId, pushId: other } = event.record;
    const when = eventTime(event);
    if (when < since && type !== "message.read") continue;
    if ((type === "notification.opened" || type === "notification.dismissed") && deviceId === device && other === pushId) return { at: when, why: type.slice(13) };
    if (type === "message.read") return { at: Math.max(when, since), why: "read" };
    if (type === "message.withdrawn" && event.record.cause !== "edited") return { at: Math.max(when, since), why: "taken back" };
  }
  return null;
}

/** The notifications on a device at a time, newest first, and the badge. */
export function screenAt(answer, device, when) {
  const entries = new Map();
  let badge = null, badgeAt = -Infinity;
  const setBadge = (value, from) => { if (Number.isInteger(value) && from <= when && from >= badgeAt) { badge = value; badgeAt = from; } };
  for (const story of answer.stories) {
    for (const decision of story.decisions) setBadge(decision.record.badge, decision.record.decidedAt ?? decision.timestamp);
    for (const outcome of story.outcomes) {
      if (outcome.record.deviceId !== device || outcome.record.result !== "sent" || at(outcome) > when) continue;
      const push = story.pushes.find(push => push.record.pushId === outcome.record.pushId)?.record;
      const decision = story.decisions.find(decision => decision.record.pushId === outcome.record.pushId)?.record;
      setBadge(push?.badge, at(outcome));
      const presentation = push?.presentation ?? shape(decision);
      if (presentation !== "alert" && presentation !== "silent") continue;
      const gone = removal(story, device, outcome.record.pushId, at(outcome));
      const isGoneForGood = !gone && when === Infinity && story.devices.some(now => now.deviceId === device && now.shows === "gone");
      if ((gone && gone.at <= when) || isGoneForGood) { entries.delete(story); continue; }
      entries.set(story, { at: at(outcome), presentation, title: push?.title, body: push?.body, conversationId: story.conversationId, messageId: story.messageId });
    }
  }
  if (when === Infinity && Number.isInteger(answer.badge)) badge = answer.badge;
  return { badge, entries: [...entries.values()].sort((a, b) => b.at - a.at) };
}

/** Draws the phone. `when`: a moment, or Infinity for now. `chosen`: the story at the cursor. */
export function draw(place, answer, device, when, chosen) {
  const { entries, badge } = screenAt(answer, device, when);
  const moment = when === Infinity ? Date.now() : when;
  const list = h("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Notifications" }, entries.map(entry => h("div", { class: `note ${chosen && entry.messageId === chosen.messageId && entry.conversationId === chosen.conversationId ? "now" : ""}` },
    h("div", { class: "nt" }, h("b", {}, h("bdi", {}, plain(entry.title ?? "(the push is no longer kept)"))), h("span", {}, clock(entry.at, false))),
    entry.body !== undefined && h("div", { class: "nb" }, h("bdi", {}, plain(entry.body))),
    h("div", { class: "nm" }, entry.presentation === "alert" ? "with a sound" : "without a sound", " · ", h("bdi", {}, plain(entry.conversationId))))));
  if (!entries.length) list.append(h("div", { class: "quiet" }, "nothing on the lock screen"));
  show(place, h("div", { class: "phone", role: "group", "aria-label": `The device ${plain(device)}` }, h("div", { class: "screen" },
    h("div", { class: "clock" }, h("b", {}, clock(moment, false)), h("span", {}, when === Infinity ? `now, ${day(moment)}` : day(moment))),
    list,
    h("div", { class: "dock" }, h("div", { class: "icon" }, h("img", { src: "icon.svg", alt: "" }), badge > 0 && h("span", { class: "count" }, badge > 999 ? "999+" : badge)),
      h("span", {}, badge === null ? "badge not known" : `badge ${badge}`)))));
}

export const deviceName = (answer, name) => {
  const device = (answer.devices ?? []).find(device => device.deviceId === name);
  return `${plain(name)}${device ? ` (${device.platform})` : ""}`;
};

