// The policy in force, a changed one beside it, and what it would have decided.

import { ask, cells, command, copyButtons, count, field, grouped, h, heading, id, link, num, plain, run, shapeNames, show, table } from "./base.js";
import { pairs } from "./charts.js";

let draft = null;
const kinds = { alert: "k2", silent: "k3", badge: "k4", none: "k8" };

function open(main, given, { signal }) {
  const parameters = { since: "1h", ...given };
  const status = h("div", { class: "status" }), body = h("div", {});
  show(main, heading("Policy", "What the operator decides for everybody: today's policy, a changed one beside it, and what it would have decided.", copyButtons(() => draft === null ? command("policy show").replace(/ --bootstrap-servers.*/, "") : command("simulate", [["since", parameters.since], ["until", parameters.until], ["user", parameters.user], ["policy", "policy.json"]]))), status, body);
  run(status, async progress => {
    const { answer } = await ask("policy", {}, { signal, progress });
    draw(body, status, answer, parameters, signal);
  });
}

function draw(body, status, today, parameters, signal) {
  const text = h("textarea", { class: "code", "aria-label": "The changed policy", spellcheck: "false" });
  text.value = draft ?? JSON.stringify(today.policy, null, 2);
  const said = h("div", { role: "status" }), result = h("div", {});
  const input = (name, placeholder) => h("input", { name, value: parameters[name] ?? "", placeholder, autocomplete: "off", spellcheck: "false" });
  const since = input("since", "1h"), until = input("until", "now"), user = input("user", "everybody");
  const check = async () => {
    try {
      const { answer } = await ask("policy-check", { policy: text.value }, { signal });
      show(said, answer.changes.length ? h("div", { class: "notice good" }, `Version ${answer.version}: it can be used.`, differences(answer.changes, "today")) : h("div", { class: "notice" }, "It is today's policy: change something."));
      return answer;
    } catch (error) { show(said, h("div", { class: "notice bad" }, plain(error.message))); return null; }
  };
  text.addEventListener("change", () => { draft = text.value; check(); });
  show(body, h("div", { class: "two" },
    h("section", { class: "card" }, h("h2", {}, "Today's, version ", id(today.version)), today.differences.length ? differences(today.differences, "default") : h("p", { class: "dim" }, "It is the default policy."), h("details", { open: !today.differences.length }, h("summary", {}, "All of it"), h("pre", { tabindex: "0", "aria-label": "Today's policy" }, plain(JSON.stringify(today.policy, null, 2))))),
    h("section", { class: "card" }, h("h2", {}, "A changed one"), text, h("div", { class: "actions" }, h("button", { type: "button", onclick: check }, "Check"), h("button", { type: "button", onclick: () => { draft = null; text.value = JSON.stringify(today.policy, null, 2); show(said); } }, "Begin anew")), said)),
  h("form", { class: "ask", onsubmit: async event => {
    event.preventDefault();
    draft = text.value;
    if (!await check()) return;
    await run(status, async progress => {
      const row = await ask("simulate", { policy: text.value, since: since.value, until: until.value, user: user.value, examples: 10 }, { signal, progress });
      drawSimulation(result, row.answer);
      result.scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
  } }, field("Decide again since", since), field("Until", until), field("Person", user, "wide"), h("button", { class: "primary" }, "Simulate"), h("span", { class: "hint" }, "Reads the timeline and decides again by the changed policy. Writes nothing.")), result);
  body.querySelector("form.ask").classList.add("card");
  if (draft !== null) check();
}

const differences = (all, other) => table(["field", "value", other], all.map(({ field, value, standard }) => h("tr", {}, cells(id(field), h("bdi", {}, plain(value)), h("bdi", { class: "dim" }, plain(standard))))), "Differences");

function drawSimulation(result, answer) {
  const differ = answer.compared - answer.same;
  show(result, h("section", { class: "card stack" }, h("h2", {}, `${count(answer.compared, "decision")} decided again: ${grouped(differ)} would differ`),
    h("p", { class: "dim" }, answer.insufficient ? `${grouped(answer.insufficient)} could not be: the person's preferences or devices are older than the timeline. ` : "", answer.unrecorded ? `${grouped(answer.unrecorded)} more have no record to be compared with.` : ""),
    h("div", { class: "two" },
      h("div", {}, h("h3", {}, "How messages would appear"), pairs(Object.keys(kinds).map(kind => ({ name: shapeNames[kind], kind: kinds[kind], before: answer.shapesBefore[kind] ?? 0, after: answer.shapesAfter[kind] ?? 0 })), ["was", "would be"])),
      h("div", {}, h("h3", {}, "Alerts of a person and day"), table(["alerts", { name: "was", num: true }, { name: "would be", num: true }], [["median", "median"], ["90 % have at most", "p90"], ["in all", "total"]].map(([name, key]) => h("tr", {}, h("th", { scope: "row" }, name), num(answer.alertsBefore[key]), num(answer.alertsAfter[key]))), "Alerts"))),
    answer.changes.length ? [h("h3", {}, "What would change"), table(["was", "would be", { name: "messages", num: true }, { name: "people", num: true }], answer.changes.map(change => h("tr", {}, cells(plain(change.was), plain(change.wouldBe)), num(change.messages), num(change.people))), "Changes")] : h("p", { class: "notice" }, "Nothing would change."),
    answer.gains.length ? [h("h3", {}, "Who would get most alerts more"), table(["person", { name: "was", num: true }, { name: "would be", num: true }], answer.gains.map(gain => h("tr", {}, cells(h("a", { href: link("person", { user: gain.userId }) }, id(gain.userId))), num(gain.before), num(gain.after))), "Gains")] : null,
    answer.examples.length ? [h("h3", {}, "Examples"), table(["message", "person", "was", "would be"], answer.examples.map(example => h("tr", {}, cells(h("a", { href: link("message", { message: example.messageId, conversation: example.conversationId }) }, id(example.messageId)), h("a", { href: link("person", { user: example.userId, message: example.messageId, conversation: example.conversationId }) }, id(example.userId)), plain(example.was), plain(example.wouldBe)))), "Examples")] : null));
}

export const policy = { title: "Policy", open };
