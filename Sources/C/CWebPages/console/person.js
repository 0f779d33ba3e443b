// A person's timeline, and a phone beside it.

import { ask, cells, chip, clock, command, copyButtons, count, cut, day, facts, field, h, heading, id, lasting, link, moment, place, plain, run, select, shape, shapeNames, show, shown, svg, table, time, words } from "./base.js";
import { deviceName, devicesOf, draw, eventTime } from "./phone.js";

const spans = [["1h", "the last hour"], ["6h", "6 hours"], ["1d", "a day"], ["7d", "7 days"], ["30d", "30 days"]];

function open(main, given, { signal, go }) {
  const parameters = { since: "1d", ...given };
  const user = h("input", { name: "user", value: parameters.user ?? "", placeholder: "userId", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const message = h("input", { name: "message", value: parameters.message ?? "", placeholder: "any", autocomplete: "off", spellcheck: "false" });
  const conversation = h("input", { name: "conversation", value: parameters.conversation ?? "", placeholder: "any", autocomplete: "off", spellcheck: "false" });
  const since = select("since", spans.some(([value]) => value === parameters.since) ? spans : [[parameters.since, `since ${parameters.since}`], ...spans], parameters.since);
  const status = h("div", { class: "status" });
  const result = h("div", {});
  show(main,
    heading("Person", "What reached a person, what did not, and why.", copyButtons(() => command("explain", [["user", user.value], ["message", message.value], ["conversation", conversation.value], ["since", message.value ? null : since.value], ["limit", 100], ["texts", facts.showsTexts]]))),
    h("form", { class: "ask", onsubmit: event => { event.preventDefault(); go({ user: user.value, message: message.value, conversation: conversation.value, since: since.value }); } },
      field("Person", user, "wide"), field("Message", message, "wide"), field("Conversation", conversation, "wide"), field("Since", since), h("button", { class: "primary" }, "Look")),
    status, result);
  if (!parameters.user) {
    show(result, h("div", { class: "empty" }, h("b", {}, "Whose day?"), "Type a userId. The page shows what nudge explain says, and the phone as it looked at each moment."));
    user.focus({ preventScroll: true });
    return;
  }
  run(status, async progress => {
    const found = [];
    const preview = h("div", { class: "stack" });
    show(result, preview);
    const last = await ask("person", { user: parameters.user, message: parameters.message, conversation: parameters.conversation, since: parameters.message ? null : parameters.since, limit: 100 }, {
      signal, progress,
      row: row => {
        if (row.row !== "decision") return;
        found.push(row);
        // The whole story follows; the sentence is there first.
        if (found.length <= 200) preview.append(brief(row));
      },
    });
    if (last?.row === "answer") draw_(result, last, parameters);
  });
}

function brief({ decision, words: said }) {
  const kind = shape(decision.record);
  return h("article", { class: `card story ${kind}` }, h("div", { class: "body" }, top(decision, kind), h("h2", { class: "sentence" }, h("bdi", {}, plain(decision.record.text ?? said.because)))));
}

const top = (decision, kind) => h("div", { class: "top" }, chip(shapeNames[kind], kind), h("span", {}, words(decision.record.reason)),
  decision.record.priority && h("span", {}, `priority ${decision.record.priority}`), decision.record.replayId && chip("replay", "accent"),
  h("span", { class: "when" }, time(decision.record.decidedAt ?? decision.timestamp)));

// MARK: The answer

function draw_(result, { answer, words: said }, parameters) {
  const devices = devicesOf(answer);
  const state = { device: devices.includes(parameters.device) ? parameters.device : devices[0], when: Infinity, chosen: null, button: null };
  const frame = h("div", {});
  const tools = h("div", { class: "phone-tools" });
  const redraw = () => draw(frame, answer, state.device, state.when, state.chosen);
  const choose = (button, when, story) => {
    state.button?.setAttribute("aria-pressed", "false");
    state.button = button;
    button?.setAttribute("aria-pressed", "true");
    state.when = when;
    state.chosen = story;
    redraw();
  };
  if (devices.length > 1) {
    const picker = select("device", devices.map(name => [name, deviceName(answer, name)]), state.device);
    picker.setAttribute("aria-label", "Device");
    picker.addEventListener("change", () => { state.device = picker.value; redraw(); });
    tools.append(picker);
  }
  tools.append(h("button", { type: "button", onclick: () => choose(null, Infinity, null) }, "Now"));
  const stories = answer.stories.map((story, index) => card(story, said.stories[index], choose, answer.stories.length === 1)).reverse();
  const notes = [];
  if (answer.older > 0) notes.push(h("p", { class: "notice" }, `${count(answer.older, "older decision")} ${answer.older === 1 ? "is" : "are"} not shown: choose a shorter time, or one message.`));
  if (answer.missing) notes.push(missing(answer.missing));
  if (!answer.stories.length && !answer.missing) {
    notes.push(h("div", { class: "empty" }, h("b", {}, "No decision", answer.since ? ` since ${moment(answer.since)}` : ""), "No message reached this person in that time. Look further back, or name a message: it is followed from its event on."));
  }
  show(result, h("div", { class: "split" },
    h("div", { class: "stack" }, notes, summary(answer), stories, aboutPerson(answer)),
    h("aside", { class: "beside", "aria-label": "The phone" }, state.device ? [tools, frame, h("p", { class: "caption" }, "As far as the records tell. Choose a moment of a message to see the phone as it was then.")] : h("div", { class: "empty" }, h("b", {}, "No device"), "No device was ever registered."))));
  if (state.device) redraw();
}

function summary(answer) {
  const counts = { alert: 0, silent: 0, badge: 0, held: 0, none: 0 };
  for (const story of answer.stories) counts[shape(story.decisions.at(-1)?.record)] += 1;
  if (answer.stories.length < 2) return null;
  return h("div", { class: "actions", role: "group", "aria-label": "Summary" }, h("span", { class: "dim" }, count(answer.stories.length, "message")), Object.entries(counts).filter(([, number]) => number).map(([kind, number]) => chip(`${number} ${shapeNames[kind].toLowerCase()}`, kind)));
}

function missing(found) {
  return h("div", { class: "notice bad" }, h("b", {}, "No decision. "), plain(found.text), ".",
    h("div", { class: "ids" }, found.event && h("span", {}, "event ", id(place(found.event))), found.candidate && h("span", {}, "candidate ", id(place(found.candidate))),
      found.deadLetter && h("a", { href: link("dead-letters", { place: `${found.deadLetter.position.partition}@${found.deadLetter.position.offset}` }) }, "the dead letter")));
}

function card(story, said, choose, isOpen) {
  const last = story.decisions.at(-1);
  const lastSaid = said.decisions.at(-1);
  const kind = shape(last?.record);
  const sender = story.event?.record.senderId ?? story.candidate?.record.senderId;
  const text = story.event?.record.text;
  return h("article", { class: `card story ${kind}`, "data-message": story.messageId }, h("div", { class: "body" },
    last && top(last, kind),
    h("h2", { class: "sentence" }, h("bdi", {}, plain(last?.record.text ?? lastSaid?.because ?? ""))),
    h("div", { class: "ids" }, h("span", {}, "message ", h("a", { href: link("message", { message: story.messageId, conversation: story.conversationId }) }, id(story.messageId, 80))), h("span", {}, "in ", id(story.conversationId, 80)),
      sender && h("span", {}, "from ", id(sender, 80)), text !== undefined && h("span", {}, "text ", h("bdi", {}, cut(text, 240)))),
    moments(story, said, choose),
    details(story, said, isOpen)));
}

const reported = { "notification.received": "arrived", "notification.opened": "opened", "notification.dismissed": "dismissed" };

/** Whether a report has its receipt, which says the same. */
const isReceived = (story, { record }) => record.type in reported && story.receipts.some(receipt => receipt.record.pushId === record.pushId && receipt.record.deviceId === record.deviceId && receipt.record.state === reported[record.type]);

/** What happened, in order; each is a moment of the phone. */
function momentsOf(story, said) {
  const all = [];
  const note = (when, kind, ...what) => all.push({ when, kind, what });
  if (story.event) note(eventTime(story.event), "", "written");
  story.decisions.forEach((decision, index) => note(decision.record.decidedAt ?? decision.timestamp, shape(decision.record), `${said.decisions[index].outcome.toLowerCase()}: ${said.decisions[index].because}`, decision.record.mode === "catching_up" ? ", while catching up" : ""));
  story.outcomes.forEach((outcome, index) => {
    const result = outcome.record.result;
    note(outcome.record.finishedAt ?? outcome.timestamp, result === "sent" ? "good" : result === "cancelled" ? "" : "bad", id(outcome.record.deviceId, 60), ` — ${result === "sent" ? "FCM took it" : words(result)}`,
      outcome.record.attempts > 1 ? ` after ${outcome.record.attempts} attempts` : "", result !== "sent" && outcome.record.errorCode ? `, ${plain(outcome.record.errorCode)}` : "");
  });
  story.receipts.forEach((receipt, index) => note(eventTime(receipt), ["arrived", "opened"].includes(receipt.record.state) ? "good" : "", id(receipt.record.deviceId, 60), ` — ${plain(said.receipts[index])}`));
  story.later.forEach((event, index) => isReceived(story, event) || note(eventTime(event), "", plain(said.later[index]), event.record.deviceId ? [" on ", id(event.record.deviceId, 60)] : ""));
  return all.sort((a, b) => a.when - b.when);
}

function moments(story, said, choose) {
  const all = momentsOf(story, said);
  const first = all[0]?.when;
  return h("ol", { class: "moments" }, all.map(({ when, kind, what }, index) => {
    const after = when - first;
    const button = h("button", { type: "button", class: `moment ${kind}`, "aria-pressed": "false", "data-step": "", onclick: () => choose(button, when, story) },
      h("span", { class: "dot", "aria-hidden": "true" }), h("time", { datetime: new Date(when).toISOString(), title: new Date(when).toISOString() }, clock(when)),
      h("span", { class: "what" }, what, index > 0 && after >= 0 ? h("span", { class: "dim" }, `  +${lasting(after)}`) : null));
    button.addEventListener("focus", () => choose(button, when, story));
    return h("li", {}, button);
  }));
}

function far(story, said, push, target) {
  const index = story.ends.findIndex(end => end.pushId === push.record.pushId && end.deviceId === target.deviceId);
  return index < 0 ? "" : h("bdi", {}, plain(said.ends[index]));
}

function details(story, said, isOpen) {
  const decisions = story.decisions.map((decision, index) => {
    const record = decision.record;
    const words_ = said.decisions[index];
    return [
      story.decisions.length > 1 && h("h3", {}, `Decision ${index + 1}, ${moment(record.decidedAt ?? decision.timestamp)}`),
      h("h3", {}, "What was checked, in order"),
      h("ul", { class: "checks" }, words_.checks.map(check => h("li", {}, h("span", { class: `mark ${check.suppresses ? "no" : "ok"}`, role: "img", "aria-label": check.suppresses ? "suppresses" : "passes" }, check.suppresses ? "✗" : "✓"), h("span", { class: "name" }, words(check.name)), h("span", { class: "text" }, h("bdi", {}, plain(check.text)))))),
      record.signals?.length ? signals(record) : null,
      h("dl", { class: "facts" }, facts_([["reason", words(record.reason)], ["level", record.level], ["priority", record.priority], ["score", record.score], ["badge", record.badge], ["policy", record.policy], ["model", record.model], ["rules", record.rules], ["replay", record.replayId], ["mode", record.mode], ["record", place(decision)], ["trace", decision.traceparent]])),
    ];
  });
  const pushes = story.pushes.map(push => {
    const targets = push.record.targets ?? [];
    return [h("h3", {}, "Push ", id(push.record.pushId), ` · ${push.record.presentation ?? ""}, ${push.record.priority ?? "?"} priority`),
      h("dl", { class: "facts" }, facts_([["title", push.record.title], ["body", push.record.body], ["fresh until", push.record.expiresAt ? moment(push.record.expiresAt) : null], ["record", place(push)]])),
      table(["device", "its outcome", "how far it got"], targets.map(target => {
        const ended = story.outcomes.map((outcome, index) => [outcome, said.outcomes[index]]).filter(([outcome]) => outcome.record.pushId === push.record.pushId && outcome.record.deviceId === target.deviceId);
        const waits = story.waiting.findIndex(item => item.deviceId === target.deviceId && item.pushId === push.record.pushId);
        return h("tr", {}, cells([id(target.deviceId), h("span", { class: "dim" }, ` ${target.platform ?? ""}`)], ended.length ? ended.map(([, text]) => h("div", {}, h("bdi", {}, plain(text)))) : waits >= 0 ? plain(said.waiting[waits]) : "no outcome yet: it waits in no lane", far(story, said, push, target)));
      }), `Devices of the push ${plain(push.record.pushId)}`)];
  });
  const now = story.devices.length ? [h("h3", {}, "What each device shows now"), h("dl", { class: "facts" }, story.devices.map(device => [h("dt", {}, id(device.deviceId, 60)), h("dd", {}, plain(device.text))]))] : null;
  const standing = story.standing && h("p", { class: "dim" }, `${story.standing.isRead ? "Read" : "Not read"}; ${story.standing.countsOnBadge ? "counts" : "does not count"} on the badge.`);
  return h("details", { open: isOpen }, h("summary", {}, "Every check, push, outcome and receipt"), decisions, story.decisions.some(decision => decision.record.pushId) && !story.pushes.length ? h("p", { class: "dim" }, "The push is no longer kept, or not written yet.") : pushes, now, standing,
    h("dl", { class: "facts" }, facts_([["event", story.event ? place(story.event) : "no longer kept"], ["candidate", story.candidate ? place(story.candidate) : "no longer kept"]])));
}

const facts_ = pairs => pairs.filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("bdi", {}, plain(shown(value))))]);

function signals(record) {
  const most = Math.max(...record.signals.map(signal => Math.abs(signal.weight ?? 0)), 0.001);
  return [h("h3", {}, `What made the score ${shown(record.score)}`), h("div", { class: "bars" }, record.signals.map(signal => {
    const width = 50 * Math.abs(signal.weight ?? 0) / most;
    return [h("span", {}, words(plain(signal.name))), h("span", { class: "bar", "aria-hidden": "true" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { x: signal.weight < 0 ? 50 - width : 50, y: 0, width, height: 10, class: signal.weight < 0 ? "k2" : "k5" }))), h("span", { class: "num" }, shown(signal.weight))];
  }))];
}

// MARK: The person

function aboutPerson(answer) {
  if (!answer.devices) return null;
  const preferences = Object.entries(answer.preferences ?? {});
  return h("section", { class: "card", "aria-label": "Devices and preferences" },
    h("h2", {}, "Devices", Number.isInteger(answer.badge) ? h("span", { class: "dim" }, ` · badge ${answer.badge}`) : null),
    answer.devices.length ? table(["device", "platform", "registered", "last seen", "token's hash", "state"], answer.devices.map(device => h("tr", {}, cells(id(device.deviceId), [device.platform, device.appVersion ? ` ${plain(device.appVersion)}` : ""], time(device.registeredAt), time(device.lastSeenAt, day(device.lastSeenAt)), id(device.tokenHash),
      [device.isReachable ? chip("reachable", "good") : chip("cannot be reached", "bad"), answer.quarantined.includes(device.deviceId) ? [" ", chip("quarantined", "bad")] : ""]))), "Devices") : h("p", { class: "dim" }, "None was ever registered."),
    h("h2", {}, "Preferences and levels"),
    preferences.length ? table(["setting", "value", "set"], preferences.map(([name, entry]) => h("tr", {}, cells(name.replace(/([A-Z])/g, " $1").toLowerCase(), h("bdi", {}, cut(shown(entry.value), 400)), entry.stamp?.occurredAt ? time(entry.stamp.occurredAt) : ""))), "Preferences") : h("p", { class: "dim" }, "None was set: the policy's defaults hold."));
}

export const person = { title: "Person", open };
