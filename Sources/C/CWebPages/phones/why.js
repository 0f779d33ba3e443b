// Why a notification came: the decision that made its push.

import { by, clock, icon, make } from "./dom.js";

export const systems = { ios: "iOS", android: "Android", web: "Web" };

/** Opens the dialog that says why a notification came. */
export async function why(entry, view) {
  by("d-title").textContent = entry.title || "(no title)";
  by("d-sub").textContent = `to ${view.owner} on phone ${view.number} (${systems[view.platform]}) at ${clock(entry.at)} · push ${entry.pushId}`;
  by("d-body").replaceChildren(make("p", "", "Asking why…"));
  if (!by("dialog").open) by("dialog").showModal();
  try {
    const response = await fetch(`decisions/${encodeURIComponent(entry.pushId)}`);
    const answer = await response.json();
    by("d-body").replaceChildren(...(response.ok ? reasons(answer) : [make("p", "", answer.message)]));
  } catch (error) {
    by("d-body").replaceChildren(make("p", "", `The emulator does not answer: ${error}`));
  }
}

function reasons(decision) {
  const parts = [make("div", "why", decision.text || decision.reason)];
  const facts = [`reason ${decision.reason}`];
  if (decision.presentation) facts.push(`presentation ${decision.presentation}`);
  if (decision.level) facts.push(`level ${decision.level}`);
  if (decision.priority) facts.push(`priority ${decision.priority}`);
  if (typeof decision.score === "number") facts.push(`score ${decision.score.toFixed(2)}`);
  if (decision.analysis) facts.push(`analysis ${decision.analysis.used} of ${decision.analysis.limit} this hour`);
  parts.push(make("p", "sub", facts.join(" · ")));
  const checks = table("What was checked, in order");
  // A file of decisions that no console has seen has the inputs alone.
  const words = decision.words?.checks ?? (decision.checks ?? []).map(check => ({
    name: check.check ?? check, suppresses: check.result === "suppress",
    text: Object.entries(check.inputs ?? {}).map(([name, value]) => `${name} ${value}`).join(", ") }));
  for (const check of words) {
    row(checks, [icon(check.suppresses ? "no" : "yes", check.suppresses ? "suppresses" : "passes"), check.suppresses ? "no" : "ok"],
      [String(check.name).replaceAll("_", " ")], [check.text, "in"]);
  }
  parts.push(checks);
  if (decision.signals?.length) {
    const signals = table("What made the score");
    for (const signal of decision.signals) row(signals, [String(signal.name).replaceAll("_", " ")], [String(signal.value)], [`weight ${signal.weight}`, "in"]);
    parts.push(signals);
  }
  return parts;
}
function table(title) { const t = make("table"), tr = make("tr"), th = make("th", "", title); th.colSpan = 3; tr.append(th); t.append(tr); return t; }
function row(t, ...cells) { const tr = make("tr"); for (const [text, name] of cells) { const td = make("td", name); td.append(text); tr.append(td); } t.append(tr); }

by("dialog").querySelector(".close").append(icon("no"));
by("dialog").querySelector(".close").addEventListener("click", () => by("dialog").close());
by("dialog").addEventListener("click", event => { if (event.target === by("dialog")) by("dialog").close(); });
