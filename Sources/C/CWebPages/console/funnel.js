// How far messages got, from the decision to the tap.

import { ask, cells, clock, command, copyButtons, day, field, grouped, h, heading, num, plain, run, show, svg, table, time, words } from "./base.js";

/** The ends of a push and device, in the order in which it may reach them. */
export const ends = [["opened", "k1"], ["dismissed", "k4"], ["arrived", "k3"], ["taken", "k5"], ["withdrawn", "k8"], ["waiting", "k7"], ["failed", "k2"]];

const steps = [
  ["decided", "Decided about", "k8", "a person and message each"], ["notify", "To be notified", "k6", "also by the badge alone"],
  ["pushed", "Pushed", "k7", "a push and device each"], ["taken", "Taken by FCM", "k5"], ["arrived", "Arrived", "k3"], ["opened", "Opened", "k1"]];

function open(main, given, { signal, go }) {
  const parameters = { since: "1h", ...given };
  const input = (name, placeholder) => h("input", { name, value: parameters[name] ?? "", placeholder, autocomplete: "off", spellcheck: "false" });
  const since = input("since", "1h, or a time"), until = input("until", "now");
  const status = h("div", { class: "status" }), result = h("div", {});
  show(main,
    heading("Funnel", "How far messages got, from the decision to the tap, and where each push stands.", copyButtons(() => command("funnel", [["since", parameters.since], ["until", parameters.until]]))),
    h("form", { class: "ask", onsubmit: event => { event.preventDefault(); go({ since: since.value, until: until.value }); } },
      field("Decided since", since, "wide"), field("Until", until, "wide"), h("button", { class: "primary" }, "Count")), status, result);
  run(status, async progress => {
    const { answer } = await ask("funnel", { since: parameters.since, until: parameters.until }, { signal, progress });
    draw(result, answer);
  });
}

const share = (part, whole) => whole ? `${(Math.round(1000 * part / whole) / 10).toLocaleString("en")} %` : "";

function draw(result, answer) {
  const all = answer.all;
  if (!all.decided) {
    show(result, h("div", { class: "empty" }, h("b", {}, "No decision"), "Nothing was decided in that time."));
    return;
  }
  const most = Math.max(...steps.map(([name]) => all[name]), 1);
  const bar = (number, kind) => h("span", { class: "bar", "aria-hidden": "true" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { width: 100 * number / most, height: 10, class: kind })));
  const before = { notify: "decided", taken: "pushed", arrived: "taken", opened: "arrived" };
  show(result,
    h("section", { class: "card" }, h("h2", {}, "From ", time(answer.since), " to ", time(answer.until)),
      h("div", { class: "steps", role: "list", "aria-label": "Steps" }, steps.map(([name, label, kind, note]) => h("div", { class: "step", role: "listitem", "data-step-name": name },
        h("span", { class: "what" }, label, note && h("span", { class: "dim" }, ` ${note}`)), bar(all[name], kind), h("span", { class: "num" }, h("b", {}, grouped(all[name])), name === "arrived" && !all.arrived && all.taken ? h("span", { class: "dim" }, " no app reports arrivals") : before[name] && all[before[name]] ? h("span", { class: "dim" }, ` ${share(all[name], all[before[name]])} of ${before[name]}`) : null)))),
      h("h3", {}, "Where each push stands now"),
      h("div", { class: "actions", "data-ends": "" }, ends.filter(([name]) => all.ends[name]).map(([name]) => h("span", { class: `chip ${name === "failed" ? "bad" : ""}` }, `${grouped(all.ends[name])} ${name}`)))),
    h("div", { class: "stack gap" }, parts("reason", answer.byReason), parts("priority", answer.byPriority), parts("platform", answer.byPlatform), parts("hour", answer.byHour)));
}

function parts(name, all) {
  const rows = Object.entries(all).sort(name === "hour" ? (a, b) => a[0] < b[0] ? -1 : 1 : (a, b) => b[1].decided - a[1].decided || b[1].pushed - a[1].pushed || (a[0] < b[0] ? -1 : 1));
  if (!rows.length) return null;
  // A decision has no platform.
  const columns = (name === "platform" ? [] : ["decided", "notify"]).concat(["pushed", "taken", "arrived", "opened"]);
  const states = ["dismissed", "withdrawn", "failed", "waiting"];
  const label = key => name === "hour" ? time(Date.parse(key), `${day(Date.parse(key))} ${clock(Date.parse(key), false).slice(0, 5)}`) : words(plain(key));
  return h("section", { class: "card", "data-by": name }, h("h2", {}, `By ${name}`), table([name, ...[...columns, ...states].map(column => ({ name: column, num: true }))],
    rows.map(([key, counts]) => h("tr", { "data-part": key }, cells(label(key)), columns.map(column => num(counts[column])), states.map(state => num(counts.ends[state] ?? 0)))), `By ${name}`));
}

export const funnel = { title: "Funnel", open };
