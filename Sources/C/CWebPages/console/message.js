// A message: whom it was for, who got it how, and who did not, grouped by why.

import { ask, chip, command, copyButtons, count, cut, facts, field, grouped, h, heading, id, lasting, link, plain, run, shapeNames, show, svg, time, words } from "./base.js";

const kinds = { alert: "k2", silent: "k3", badge: "k4", held: "k5", none: "k8", undecided: "k7" };
const names = { ...shapeNames, undecided: "Not decided" };

const endKinds = { opened: "good", arrived: "good", dismissed: "", taken: "", withdrawn: "", waiting: "", failed: "bad" };

/** How far a person's pushes got, said once for devices where it is the same. */
function stands(group, person) {
  const states = new Set(group.deliveries.filter(delivery => delivery.userId === person).map(delivery => delivery.state));
  return states.size ? h("span", { class: "dim" }, ` ${[...states].join(", ")}`) : null;
}

function open(main, given, { signal, go }) {
  const message = h("input", { name: "message", value: given.message ?? "", placeholder: "messageId", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const conversation = h("input", { name: "conversation", value: given.conversation ?? "", placeholder: "shortens the search", autocomplete: "off", spellcheck: "false" });
  const status = h("div", { class: "status" });
  const result = h("div", {});
  show(main,
    heading("Message", "Whom a message was for, how each of them got it, and who did not and why.", copyButtons(() => command("explain", [["message", message.value], ["conversation", conversation.value], ["limit", 200], ["texts", facts.showsTexts]]))),
    h("form", { class: "ask", onsubmit: event => { event.preventDefault(); go({ message: message.value, conversation: conversation.value }); } },
      field("Message", message, "wide"), field("Conversation", conversation, "wide"), h("button", { class: "primary" }, "Look")), status, result);
  if (!given.message) {
    show(result, h("div", { class: "empty" }, h("b", {}, "Which message?"), "Type a messageId. With its conversation the search reads one partition instead of all."));
    message.focus({ preventScroll: true });
    return;
  }
  run(status, async progress => {
    let latest, drawn = 0;
    const last = await ask("message", { message: given.message, conversation: given.conversation }, { signal, progress, row: row => {
      latest = row;
      // A large group arrives in many rows; a few drawings a second are enough.
      if (performance.now() - drawn > 300) { drawn = performance.now(); draw(result, latest.answer, true); }
    } });
    if (last) draw(result, last.answer, false);
  });
}

function draw(result, answer, isPartial) {
  const shares = {};
  for (const group of answer.groups) shares[group.shape] = (shares[group.shape] ?? 0) + group.people.length + group.more;
  const total = Object.values(shares).reduce((sum, number) => sum + number, 0);
  const event = answer.event?.record;
  let from = 0;
  const bar = h("div", { class: "share", role: "img", "aria-label": Object.entries(shares).map(([kind, number]) => `${number} ${names[kind]}`).join(", ") },
    svg("svg", { viewBox: `0 0 ${Math.max(total, 1)} 1`, preserveAspectRatio: "none" }, Object.keys(kinds).map(kind => {
      const x = from;
      from += shares[kind] ?? 0;
      return svg("rect", { x, y: 0, width: shares[kind] ?? 0, height: 1, class: kinds[kind] });
    })));
  show(result,
    h("section", { class: "card" },
      h("h2", {}, event ? [h("span", {}, "From "), id(event.senderId, 80), " in ", id(answer.conversationId ?? event.conversationId, 80)] : "The event is no longer kept"),
      event && h("p", { class: "ids" }, time(event.occurredAt), h("span", {}, `${count(total, "recipient")}${isPartial ? " so far" : ""}`), event.text !== undefined && h("span", {}, h("bdi", {}, cut(event.text, 400)))),
      total > 0 && bar,
      h("div", { class: "actions" }, Object.keys(kinds).filter(kind => shares[kind]).map(kind => chip(`${grouped(shares[kind])} ${names[kind].toLowerCase()}`, kind))),
      answer.edits?.length ? h("p", { class: "dim" }, answer.edits.map(edit => [edit.record.type === "message.deleted" ? "Deleted " : "Edited ", time(edit.record.occurredAt), ". "])) : null,
      answer.note && h("p", { class: "notice" }, plain(answer.note))),
    h("div", { class: "groups" }, answer.groups.map(group => h("section", { class: `card story ${group.shape}` }, h("div", { class: "body" },
      h("div", { class: "group-head" }, h("span", { class: "count" }, grouped(group.people.length + group.more)), chip(names[group.shape], group.shape), h("b", {}, words(group.reason)), h("span", { class: "dim" }, plain(group.because))),
      group.results.length ? h("p", { class: "dim" }, "On their devices: ", group.results.map((result, index) => [index ? ", " : "", `${grouped(result.count)} ${words(result.result)}`]), group.latencyMs ? ` · half of them within ${lasting(group.latencyMs.p50)}, all within ${lasting(group.latencyMs.max)}` : "") : null,
      group.ends.length ? h("p", { class: "ends" }, "How far they got: ", group.ends.map(end => [chip(`${grouped(end.count)} ${end.state}`, endKinds[end.state]), " "]), group.arrivalMs ? h("span", { class: "dim" }, ` half arrived within ${lasting(group.arrivalMs.p50)}, all that did within ${lasting(group.arrivalMs.max)}`) : null) : null,
      h("ul", { class: "people", "aria-label": "People" }, group.people.map(person => h("li", {}, h("a", { href: link("person", { user: person, message: answer.messageId, conversation: answer.conversationId }), "data-step": "" }, h("bdi", {}, cut(person, 60)), stands(group, person))))),
      group.more ? h("p", { class: "dim" }, `and ${grouped(group.more)} more`) : null)))),
    !answer.groups.length && !isPartial ? h("div", { class: "empty" }, h("b", {}, "Nobody"), answer.event ? "It was for nobody, or its decisions are no longer kept. Name a person on the page Person: it is followed from its event on." : "No event and no decision has this messageId, as far as the topics go back.") : null);
}

export const message = { title: "Message", open };
