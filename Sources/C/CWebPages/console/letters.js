// Dead letters: which, why, the record with its fault marked, and what can be done about it.

import { ask, cells, chip, command, copyButtons, count, cut, facts, field, grouped, h, heading, id, link, moment, num, plain, run, say, select, show, shown, table, time, words } from "./base.js";

const spans = [["15m", "15 minutes"], ["1h", "the last hour"], ["1d", "a day"], ["7d", "7 days"], ["30d", "30 days"]];

const where = letter => `${letter.position.partition}@${letter.position.offset}`;

function open(main, given, { signal, go }) {
  const parameters = { since: "7d", ...given };
  const since = select("since", spans.some(([value]) => value === parameters.since) ? spans : [[parameters.since, `since ${parameters.since}`], ...spans], parameters.since);
  const key = h("input", { name: "key", value: parameters.key ?? "", placeholder: "any", autocomplete: "off", spellcheck: "false" });
  const handled = h("input", { type: "checkbox", name: "handled", checked: parameters.handled === "yes" });
  const status = h("div", { class: "status" }), groups = h("div", {}), list = h("div", {}), one = h("div", {});
  const chosen = { reason: parameters.reason, stage: parameters.stage, topic: parameters.topic, producer: parameters.producer };
  const flags = () => [["reason", parameters.reason], ["stage", parameters.stage], ["topic", parameters.topic], ["key", parameters.key], ["producer", parameters.producer], ["since", parameters.since], ["handled", parameters.handled === "yes"]];
  show(main,
    heading("Dead letters", "Records that a stage refused: why, whose they were, and what can be done.", copyButtons(() => parameters.place ? command("dead-letters show", [["texts", facts.showsTexts]], [parameters.place]) : parameters.reason ? command("dead-letters show", flags()) : command("dead-letters list", flags()))),
    h("form", { class: "ask", onsubmit: event => { event.preventDefault(); go({ since: since.value, key: key.value, handled: handled.checked ? "yes" : "" }); } },
      field("Since", since), field("Key", key, "wide"), h("label", { class: "check" }, handled, "also replayed and discarded ones"), h("button", { class: "primary" }, "Look")),
    status, h("div", { class: "stack" }, groups, list, one));
  run(status, async progress => {
    const selection = { since: parameters.since, key: parameters.key, handled: parameters.handled };
    const answer = (await ask("dead-letters", selection, { signal, progress })).answer;
    drawGroups(groups, answer.groups, parameters, chosen);
    if (parameters.reason) await letters(list, { ...selection, ...chosen }, parameters, { signal, progress });
    if (parameters.place) await letter(one, parameters, { signal, progress });
  });
}

function drawGroups(groups, all, parameters, chosen) {
  if (!all.length) {
    show(groups, h("div", { class: "empty" }, h("b", {}, "No dead letters"), "Nothing was refused in that time, or all of it has been dealt with."));
    return;
  }
  const base = { since: parameters.since, key: parameters.key, handled: parameters.handled };
  show(groups, h("div", { class: "card" }, table(["why", "refused by", "from", "producer", { name: "letters", num: true }, { name: "keys", num: true }, "last", "such as"], all.map(group => {
    const isChosen = group.code === chosen.reason && group.stage === chosen.stage && (group.topic ?? "") === (chosen.topic ?? "") && (group.producer ?? "") === (chosen.producer ?? "");
    return h("tr", { class: isChosen ? "chosen" : undefined }, cells(
      h("a", { href: link("dead-letters", { ...base, reason: group.code, stage: group.stage, topic: group.topic, producer: group.producer }), "data-step": "" }, words(plain(group.code))), plain(group.stage), plain(group.topic ?? "?"), group.producer ? id(group.producer, 60) : h("span", { class: "dim" }, "not known"),
      num(group.count), num(group.keys >= 1000 ? "1,000+" : group.keys), time(group.last), h("bdi", {}, cut(group.example.message, 120))));
  }), "Dead letters by reason")));
}

async function letters(list, selection, parameters, asked) {
  const rows = [];
  let more = 0;
  const last = await ask("dead-letter-list", { ...selection, limit: 100 }, { ...asked, row: row => { if (row.row === "letter") rows.push(row); } });
  if (last?.row === "end") more = last.more;
  const actions = facts.allowsActions ? bulk(selection, rows.length + more) : null;
  show(list, h("div", { class: "card" }, h("div", { class: "head" }, h("h2", { class: "grow" }, `${words(parameters.reason)}: ${count(rows.length, "letter")}`, more ? `, and ${grouped(more)} earlier` : ""), actions),
    table(["refused", "key", "message", "bytes", "state"], rows.map(({ letter, isHandled }) => h("tr", { class: where(letter) === parameters.place ? "chosen" : undefined }, cells(
      h("td", { class: "when" }, h("a", { href: link("dead-letters", { ...parameters, place: where(letter) }), "data-step": "" }, moment(letter.timestamp))), letter.key === undefined ? h("span", { class: "dim" }, "none") : id(letter.key, 60), h("bdi", {}, cut(letter.message, 200)), num(letter.size), isHandled ? chip("dealt with", "good") : ""))), "Dead letters")));
}

/** Actions on all of a group: counted first, then done with a reason. */
function bulk(selection, count) {
  const result = h("span", { class: "dim" });
  const act = async (name, verb) => {
    try {
      const { answer: dry, counted } = await ask(`dead-letter-${name}`, selection, {});
      const total = Object.values(dry.written).reduce((sum, number) => sum + number, 0);
      const left = Object.entries(dry.left).map(([why, number]) => `${number} are skipped: ${why}`).join("\n");
      const why = await reason(`${verb} ${grouped(total)} dead letters`, [total ? null : "None of them can be.", dry.likelyRefusedAgain ? `${grouped(dry.likelyRefusedAgain)} will be refused again, unless the services have changed: correct such records instead.` : null, left].filter(Boolean), total > 0);
      if (!why) return;
      const done = (await ask(`dead-letter-${name}-write`, { counted, why }, {})).answer;
      say(`Done, audited as ${done.replayId}`);
      window.dispatchEvent(new Event("hashchange"));
    } catch (error) { result.textContent = plain(error.message); }
  };
  return h("div", { class: "actions" }, h("button", { type: "button", onclick: () => act("replay", "Replay") }, "Replay all…"), h("button", { type: "button", class: "danger", onclick: () => act("discard", "Discard") }, "Discard all…"), result);
}

/** Asks for the reason, for the audit; null: nothing is to be done. */
export function reason(title, notes, isPossible, extra = []) {
  return new Promise(resolve => {
    const why = h("input", { name: "why", required: true, autocomplete: "off", placeholder: "for the audit" });
    const dialog = h("dialog", { "aria-label": title }, h("form", { class: "stack", onsubmit: event => { event.preventDefault(); dialog.close(why.value); } },
      h("h2", {}, title), notes.map(note => h("p", {}, plain(note))), isPossible && [extra, h("label", { class: "field" }, "Why", why)],
      h("div", { class: "actions" }, isPossible && h("button", { class: "primary" }, "Do it"), h("button", { type: "button", onclick: () => dialog.close("") }, isPossible ? "Leave it" : "Close"))));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue || null); });
    document.body.append(dialog);
    dialog.showModal();
    why.focus();
  });
}

// MARK: One letter

async function letter(one, parameters, asked) {
  const found = (await ask("dead-letter", { place: parameters.place }, asked));
  if (found?.row !== "letter") { show(one, h("div", { class: "notice bad" }, "There is no such dead letter, or no longer.")); return; }
  const { letter, value, fate, isHandled } = found;
  const event = value?.conversationId ?? value?.userId;
  show(one, h("section", { class: "card" },
    h("div", { class: "head" }, h("div", { class: "grow" }, h("h2", {}, "Dead letter ", id(where(letter)), isHandled ? [" ", chip("dealt with", "good")] : null), h("p", { class: "sentence" }, h("bdi", {}, plain(letter.message)))), chip(words(plain(letter.code)), "bad")),
    h("div", { class: "two" }, h("div", {}, h("h3", {}, "The record, with what is wrong"), marked(value, letter, found.invalid)),
      h("div", {}, h("h3", {}, "About it"), h("dl", { class: "facts" }, facts_([
        ["refused by", letter.stage], ["at", moment(letter.timestamp)], ["was", letter.origin ? `${letter.origin.topic}-${letter.origin.partition}@${letter.origin.offset}` : "not known"], ["written", letter.originTimestamp ? moment(letter.originTimestamp) : null], ["key", letter.key], ["producer", letter.producer], ["bytes", letter.size], ["truncated", letter.isCut ? "yes: a part of it is missing" : null], ["replay", letter.replayId]])),
        h("h3", {}, "If it is replayed"), h("p", {}, plain(fate.written ? `It is written to ${fate.written} again, unchanged.` : `It cannot be: ${fate.left}.`), fate.likelyRefusedAgain ? " Its code is about the record itself: unless the services have changed, it is refused again." : ""),
        event && value?.messageId ? h("p", {}, h("a", { href: link("message", { message: value.messageId, conversation: value.conversationId }) }, "The message")) : null,
        fate.written || fate.editable ? editor(parameters.place, value, letter) : null))));
}

const facts_ = pairs => pairs.filter(([, value]) => value !== undefined && value !== null).map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("bdi", {}, plain(shown(value))))]);

/** The path of the field that a message names, the longest that it has: `preferences.quietHours.start`. */
export function faulty(value, message, path = []) {
  let best = null;
  const named = name => new RegExp(`(^|[^A-Za-z0-9_])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}([^A-Za-z0-9_]|$)`).test(message);
  for (const [name, field] of Object.entries(value ?? {})) {
    const here = [...path, name];
    if (named(here.join(".")) || (typeof name === "string" && !/^\d+$/.test(name) && named(name))) best = !best || here.length > best.length ? here : best;
    if (field && typeof field === "object") {
      const inner = faulty(field, message, here);
      if (inner && (!best || inner.length > best.length)) best = inner;
    }
  }
  return best;
}

/** The record as text, the fault's field marked; a field that is missing is named where it should be. */
function marked(value, letter, invalid) {
  if (value === undefined || value === null) return h("pre", { tabindex: "0" }, invalid ? plain(invalid) : "It has no value, or none that is JSON.");
  const wrong = faulty(value, letter.message);
  const pre = h("pre", { tabindex: "0", "aria-label": "The record" });
  const write = (part, path, indent) => {
    const isWrong = wrong && path.length === wrong.length && path.every((name, index) => name === wrong[index]);
    const target = isWrong ? h("mark", { title: plain(letter.message) }) : pre;
    if (isWrong) pre.append(target);
    const name = path.length && !Array.isArray(parent(value, path)) ? `${JSON.stringify(path.at(-1))}: ` : "";
    if (part === null || typeof part !== "object" || !Object.keys(part).length) { target.append(plain(`${name}${JSON.stringify(part)}`)); return; }
    const [open, close] = Array.isArray(part) ? ["[", "]"] : ["{", "}"];
    target.append(plain(`${name}${open}`), "\n");
    Object.entries(part).forEach(([key, field], index, all) => {
      pre.append(" ".repeat(indent + 2));
      write(field, [...path, key], indent + 2);
      pre.append(index < all.length - 1 ? ",\n" : "\n");
    });
    pre.append(`${" ".repeat(indent)}${close}`);
  };
  write(value, [], 0);
  const missing = /(?:^|\s)([A-Za-z][A-Za-z0-9_.]*)(?: is| are)? (?:missing|required)/.exec(letter.message);
  if (!wrong && missing) pre.append("\n", h("span", { class: "missing" }, `✗ ${plain(missing[1])} is missing`));
  return pre;
}

const parent = (value, path) => path.slice(0, -1).reduce((part, name) => part?.[name], value);

// MARK: Correcting

/** What an edit changes: paths to set, with JSON, and paths to remove. Lists are set as a whole. */
export function difference(before, after, path = "") {
  const changes = { set: {}, remove: [] };
  for (const name of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
    const here = path ? `${path}.${name}` : name;
    const [old, now] = [before?.[name], after?.[name]];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    if (now === undefined) changes.remove.push(here);
    else if (isObject(old) && isObject(now)) { const inner = difference(old, now, here); Object.assign(changes.set, inner.set); changes.remove.push(...inner.remove); }
    else changes.set[here] = JSON.stringify(now);
  }
  return changes;
}
const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);

function editor(place, value, letter) {
  if (!isObject(value)) return null;
  const text = h("textarea", { class: "code", "aria-label": "The record to publish", spellcheck: "false" });
  text.value = JSON.stringify(value, null, 2);
  const said = h("div", { role: "status" });
  let checked = null;
  const publish = h("button", { type: "button", class: "danger", disabled: true, onclick: async () => {
    const why = await reason("Publish the corrected event", [`${count(Object.keys(checked.set).length + checked.remove.length, "field")} differ. It goes through ingest like any other event.`], true);
    if (!why) return;
    try {
      const answer = (await ask("dead-letter-edit-write", { place, set: JSON.stringify(checked.set), remove: JSON.stringify(checked.remove), why })).answer;
      say(`Published, audited as ${answer.replayId}`);
      window.dispatchEvent(new Event("hashchange"));
    } catch (error) { show(said, h("div", { class: "notice bad" }, plain(error.message))); }
  } }, "Publish…");
  const check = async () => {
    publish.disabled = true;
    try {
      const after = JSON.parse(text.value);
      const changes = difference(value, after);
      const hidden = Object.entries(changes.set).find(([, json]) => /"\(hash |"\(\d+ (characters|entries)\)"/.test(json));
      if (hidden) throw new Error(`${hidden[0]} has a value that is hidden here: leave that field as it is, or set all of it.`);
      const names = [...Object.keys(changes.set), ...changes.remove];
      if (names.some(name => name.split(".").some(part => part === ""))) throw new Error("A field with an empty name cannot be set.");
      const answer = (await ask("dead-letter-edit", { place, set: JSON.stringify(changes.set), remove: JSON.stringify(changes.remove) })).answer;
      const left = Object.keys(answer.left);
      if (left.length) throw new Error(left[0]);
      checked = changes;
      show(said, h("div", { class: "notice good" }, `Ingest would take it. Changed: ${plain(Object.keys(answer.changed).join(", "))}.`));
      publish.disabled = !facts.allowsActions;
    } catch (error) { show(said, h("div", { class: "notice bad" }, plain(error instanceof SyntaxError ? `It is not JSON: ${error.message}` : error.message))); }
  };
  text.addEventListener("input", () => { publish.disabled = true; });
  return h("details", {}, h("summary", {}, "Correct it"), h("p", { class: "hint" }, "Change the record, and have it checked as ingest does. Nothing is written by the check. Hidden texts and tokens stay as they are."), text,
    h("div", { class: "actions" }, h("button", { type: "button", onclick: check }, "Check"), facts.allowsActions ? publish : h("span", { class: "hint" }, "To publish it: nudge console --allow-actions, or nudge dead-letters edit.")), said);
}

export { page as letters };
const page = { title: "Dead letters", open };
