// The emulator's own page, in a frame: a demo's phones, live.

import { facts, h, heading, show } from "./base.js";

function open(main) {
  show(main, heading("Phones", "The demo's phones, as their owners see them.", h("div", { class: "actions" }, h("a", { class: "button", href: facts.phones, target: "_blank", rel: "noreferrer" }, "In a window of its own"))),
    h("iframe", { class: "phones", src: facts.phones, title: "Phones", sandbox: "allow-scripts allow-same-origin allow-forms" }));
}

export const phones = { title: "Phones", open };
