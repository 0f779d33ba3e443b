// Replays: those there were, a plan with its dry run, and one that runs.

import { ask, cells, chip, command, copyButtons, count, facts, field, grouped, h, heading, id, link, num, plain, run, say, select, show, shown, table, time, words } from "./base.js";
import { reason } from "./letters.js";

const modes = [["resend-missing", "Resend what was missed"], ["resend-failed", "Resend what failed on devices"], ["rederive", "Work out the recipients again"], ["force", "Notify again, by force"]];
const about = {
  "resend-missing": "People who were not notified of a message are decided for again, by every check.",
  "resend-failed": "Devices on which a push failed get it again, if the message is still unread and wanted there.",
  rederive: "For messages whose membership was wrong or missing when they came: decides for people who had no decision.",
  force: "Makes new pushes, at most 100, also for people who were notified before. Needs a message, a conversation or a person.",
};
const conditions = { open: ["running, or its process ended", "accent"], completed: ["completed", "good"], interrupted: ["interrupted", "bad"], stopped: ["stopped", ""] };
const meanings = {
  already_sent: "already sent: FCM has taken a push of it", already_notified: "already notified: its push waits, or its outcome says why it was not sent", undecided: "not decided yet: the analyzer will", expired: "past their freshness", decided: "decided when the message came", joined_later: "became members after the message",
};

const fieldsOf = mode => ["since", "until", "user", "conversation", "message", ...(mode === "rederive" ? ["members", "max-age"] : ["reason"]), ...(mode === "resend-failed" ? ["result", "max-age"] : [])];

function open(main, given, { signal, go }) {
  const parameters = { mode: "resend-missing", since: "1h", ...given };
  const status = h("div", { class: "status" }), result = h("div", {}), history = h("div", {});
  const mode = select("mode", modes, parameters.mode);
  const inputs = {};
  const input = (name, placeholder, label, more = "wide") => {
    inputs[name] = h("input", { name, value: parameters[name] ?? "", placeholder, autocomplete: "off", spellcheck: "false" });
    return h("label", { class: `field ${more}`, "data-field": name }, label, inputs[name]);
  };
  const hint = h("p", { class: "hint", id: "mode-hint" });
  mode.setAttribute("aria-describedby", "mode-hint");
  const form = h("form", { class: "ask", onsubmit: event => {
    event.preventDefault();
    const changes = { mode: mode.value, plan: "yes" };
    for (const name of fieldsOf(mode.value)) changes[name] = inputs[name].value;
    go(changes);
  } }, field("What", mode, "wide"), input("since", "1h, or a time", "Since", ""), input("until", "now", "Until", ""), input("user", "any", "Person"), input("conversation", "any", "Conversation"), input("message", "any", "Message"), input("reason", "any, such as quiet_hours", "First decided for"), input("result", "gave_up,expired,rejected", "Ended as"), input("members", "then, or current", "Members"), input("max-age", "their freshness", "Oldest", ""),
  h("button", { class: "primary" }, "Count what would happen"), h("div", { class: "grow" }, hint));
  const fit = () => {
    hint.textContent = about[mode.value];
    for (const label of form.querySelectorAll("[data-field]")) label.hidden = !fieldsOf(mode.value).includes(label.dataset.field);
  };
  mode.addEventListener("change", fit);
  fit();
  const flags = () => fieldsOf(parameters.mode).map(name => [name, parameters[name]]);
  show(main, heading("Replays", "Have messages decided again. A plan only counts; the analyzer's checks hold for every replay.", copyButtons(() => parameters.plan ? command(`replay ${parameters.mode}`, flags()) : command("replay list"))), form, status, h("div", { class: "stack" }, result, history));
  run(status, async progress => {
    if (parameters.plan) await plan(result, parameters, { signal, progress });
    await list(history, { signal, progress });
    if (parameters.replay) await trail(history, parameters.replay, { signal, progress });
  });
}

// MARK: A plan

const asked = parameters => Object.fromEntries([["mode", parameters.mode], ...fieldsOf(parameters.mode).map(name => [name, parameters[name]])]);

async function plan(result, parameters, asking) {
  const { answer, recipients, counted } = await ask("replay-plan", asked(parameters), asking);
  const will = answer.wouldSend > 0 || (answer.deadLetters ?? 0) > 0;
  const rows = [
    ["would be sent", answer.wouldSend, "alert"],
    ...Object.entries(answer.suppressed).sort((a, b) => b[1] - a[1]).map(([why, number]) => [`would be suppressed: ${words(why)}`, number, ""]),
    ...Object.entries(answer.standings).filter(([, number]) => number > 0).map(([name, number]) => [meanings[name] ?? words(name), number, ""]),
    ...(answer.deadLetters ? [["dead letters that are written to chat.events again", answer.deadLetters, "accent"]] : []), ...(answer.refusedAgain ? [["dead letters that would be refused again", answer.refusedAgain, "bad"]] : []),
  ];
  const place = h("div", {});
  show(result, h("section", { class: "card" }, h("div", { class: "head" }, h("h2", { class: "grow" }, `The plan: ${count(answer.selected, "notification")} selected`), facts.allowsActions && will ? h("button", { class: "danger", type: "button", onclick: () => begin(place, parameters, answer, recipients, counted) }, "Run it…") : null),
    table([{ name: "notifications", num: true, first: true }, "what would become of them"], rows.map(([what, number, kind]) => h("tr", {}, num(number), h("td", {}, kind ? chip(what, kind) : what))), "The plan"),
    h("p", { class: "hint" }, `A person and a message each. ${Object.entries(answer.selection).map(([name, value]) => `${name} ${plain(value)}`).join(", ")}. `, !facts.allowsActions ? "Nothing is written. To run it: copy the command and add --yes --why, or start nudge console --allow-actions." : will ? "" : "There is nothing to write."), place));
}

async function begin(place, parameters, planned, recipients, counted) {
  const rate = h("input", { type: "number", name: "rate", value: 50, min: 1, max: 10000, required: true });
  const isForced = parameters.mode === "force";
  const confirm = h("input", { name: "confirm", inputmode: "numeric", required: isForced, autocomplete: "off" });
  const why = await reason(`${grouped(planned.wouldSend)} notifications will be made`, [about[parameters.mode]], true, [field("At most, a second", rate), isForced ? field(`Type their number, ${recipients}, to go on`, confirm) : null]);
  if (!why) return;
  watch(place, "replay-run", { ...asked(parameters), counted, rate: rate.value, why, confirm: isForced ? confirm.value : "" });
}

/** Follows a replay to its end. It goes on if the page is left. */
async function watch(place, question, parameters) {
  const state = h("span", {}, "Starting…"), buttons = h("span", {});
  show(place, h("div", { class: "notice", role: "status" }, h("span", { class: "spin", "aria-hidden": "true" }), " ", state, " ", buttons));
  try {
    const last = await ask(question, parameters, { progress: text => { if (text) state.textContent = plain(text); }, row: row => {
      if (row.row === "started") show(buttons, h("button", { type: "button", class: "danger", onclick: () => stop(row.replayId) }, "Stop it…"));
    } });
    const { answer } = last;
    const counts = fields => Object.entries(fields ?? {}).map(([name, number]) => `${grouped(number)} ${words(name)}`).join(", ") || "none";
    show(place, h("div", { class: `notice ${answer.result === "completed" ? "good" : "bad"}` }, answer.replayId ? [h("b", {}, `Replay ${answer.replayId} ${answer.result}. `), answer.stoppedBecause ? `${plain(answer.stoppedBecause)}. ` : "", `Decided: ${counts(answer.decisions)}. Outcomes so far: ${counts(answer.outcomes)}.`] : "There was nothing to write."));
  } catch (error) { show(place, h("div", { class: "notice bad", role: "alert" }, plain(error.message))); }
}

async function stop(replay) {
  const why = await reason(`Stop replay ${replay}`, ["It stops for all time, wherever it runs. What FCM has taken is not taken back."], true);
  if (!why) return;
  try { await ask("replay-stop", { replay, why }); say(`Replay ${replay} is stopped`); window.dispatchEvent(new Event("hashchange")); } catch (error) { say(error.message); }
}

// MARK: Those there were

async function list(history, asking) {
  const { answer } = await ask("replays", {}, asking);
  const replays = answer.replays.toReversed();
  const actions = replay => facts.allowsActions && (replay.condition === "open" || replay.condition === "interrupted") ? h("button", { type: "button", class: "danger", onclick: () => stop(replay.replayId) }, "Stop…") : "";
  show(history, h("section", { class: "card" }, h("h2", {}, "Replays there were"), replays.length ? table(["began", "replay", "what", "how it stands", { name: "written", num: true }, "by, and why", "action"], replays.map(replay => h("tr", {}, cells(time(replay.startedAt),
    h("a", { href: link("replays", { replay: replay.replayId }), "data-step": "" }, id(replay.replayId)), words(replay.started.mode), [chip(...(conditions[replay.condition] ?? [replay.condition, ""])), replay.note ? h("div", { class: "dim" }, h("bdi", {}, plain(replay.note))) : ""], num(replay.progress?.recipients ?? 0), [id(replay.started.who, 60), h("div", {}, h("bdi", {}, plain(replay.started.why)))], actions(replay)))), "Replays") : h("p", { class: "dim" }, "None, as far back as the audit goes.")));
}

async function trail(history, replay, asking) {
  const { entries } = await ask("replay", { replay }, asking);
  history.append(h("section", { class: "card" }, h("h2", {}, "The audit of ", id(replay)), entries.length ? table(["when", "what", "details"], entries.map(entry => {
    const { type, occurredAt, eventId, schemaVersion, ...rest } = entry;
    return h("tr", {}, cells(time(occurredAt), words(type), h("dl", { class: "facts" }, Object.entries(rest).filter(([name]) => name !== "replayId").map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("bdi", {}, plain(shown(value))))]))));
  }), "Audit") : h("p", { class: "dim" }, "The audit has nothing of it.")));
}

export const replays = { title: "Replays", open };
