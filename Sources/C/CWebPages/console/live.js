// Decisions as they are made.

import { ask, chip, command, copyButtons, field, h, heading, id, link, plain, run, shape, shapeNames, show, time, words } from "./base.js";

/** The page keeps this many. */
const most = 200;

function open(main, given, { signal, go }) {
  const user = h("input", { name: "user", value: given.user ?? "", placeholder: "everybody", autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
  const status = h("div", { class: "status" }), list = h("div", { class: "stack", role: "log", "aria-label": "Decisions" });
  show(main,
    heading("Live", "Decisions as they are made, the newest first.", copyButtons(() => command("tail", [["user", user.value], ["follow", true]], ["decisions"]))),
    h("form", { class: "ask", onsubmit: event => { event.preventDefault(); go({ user: user.value }); } }, field("Person", user, "wide"), h("button", { class: "primary" }, "Follow")),
    status, list);
  run(status, progress => ask("live", { user: given.user }, {
    signal,
    progress: text => {
      progress(text);
      // It goes on for as long as the page is open.
      if (text.startsWith("live")) status.querySelector(".spin")?.remove();
    },
    row: row => {
      list.prepend(card(row));
      while (list.children.length > most) list.lastElementChild.remove();
    },
  }));
}

function card({ decision: { record, timestamp }, words: said }) {
  const kind = shape(record);
  return h("article", { class: `card story ${kind}`, "data-message": record.messageId }, h("div", { class: "body" },
    h("div", { class: "top" }, chip(shapeNames[kind], kind), h("span", {}, words(record.reason)),
      h("a", { href: link("person", { user: record.userId, message: record.messageId }) }, id(record.userId, 60)),
      h("span", { class: "when" }, time(record.decidedAt ?? timestamp))),
    h("h2", { class: "sentence" }, h("bdi", {}, plain(record.text ?? said.because)))));
}

export const live = { title: "Live", open };
