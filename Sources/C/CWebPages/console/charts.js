// Small charts over time: stacked bars, and lines. Each has its numbers as a table, too.

import { clock, grouped, h, svg, table } from "./base.js";

const width = 360, height = 132, bottom = 16, left = 50;

/** A round number at or above the largest value, for the axis. */
export function ceiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map(step => step * power).find(step => step >= value * 0.999);
}

const brief = value => value >= 10000 ? `${Math.round(value / 1000)}k` : value >= 1000 ? `${(value / 1000).toFixed(1)}k` : value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);

function axes(most, slots, unit) {
  const plot = height - bottom - 6;
  const lines = [0, 0.5, 1].map(share => {
    const y = 6 + plot * (1 - share);
    return [svg("line", { class: "grid", x1: left, x2: width, y1: y, y2: y }), text(left - 5, y + 3.5, `${brief(most * share)}${unit}`, "end")];
  });
  const marks = [0, 1 / 3, 2 / 3].map(share => {
    const slot = slots[Math.floor(share * slots.length)];
    return slot === undefined ? null : text(left + share * (width - left), height - 3, clock(slot, false).slice(0, 5), "start");
  });
  return [lines, marks, text(width, height - 3, "now", "end")];
}

function text(x, y, words, anchor) {
  const element = svg("text", { x, y, "text-anchor": anchor });
  element.textContent = words;
  return element;
}

function title(words) {
  const element = svg("title");
  element.textContent = words;
  return element;
}

/**
 * A chart. `series`: `{name, values, kind}`; kinds are the classes k1 to k8. `stacked`: bars that stand on each other;
 * otherwise lines, in which null is a gap.
 */
export function chart({ name, more, slots, series, stacked = true, unit = "", shown = value => grouped(Math.round(value)) }) {
  const present = series.filter(({ values }) => values.some(value => value > 0));
  const plot = height - bottom - 6, slotWidth = (width - left) / slots.length;
  const totals = slots.map((_, index) => stacked ? present.reduce((sum, { values }) => sum + (values[index] ?? 0), 0) : Math.max(0, ...present.map(({ values }) => values[index] ?? 0)));
  const most = ceiling(Math.max(...totals, 0));
  const y = value => 6 + plot * (1 - value / most);
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: ${present.map(({ name, values }) => `${name} ${shown(last(values) ?? 0)}${unit}`).join(", ") || "nothing"} in the last slot` }, axes(most, slots, unit));
  slots.forEach((slot, index) => {
    const x = left + index * slotWidth;
    const said = present.filter(({ values }) => values[index]).map(({ name, values }) => `${name} ${shown(values[index])}${unit}`);
    const group = svg("g", { class: "slot" }, title(`${clock(slot, false)}\n${said.join("\n") || "nothing"}`));
    let from = 0;
    if (stacked) for (const { values, kind } of present) {
      const value = values[index] ?? 0;
      if (value > 0) group.append(svg("rect", { class: kind, x: x + 0.4, width: Math.max(slotWidth - 0.8, 0.5), y: y(from + value), height: Math.max(y(from) - y(from + value), 0.6) }));
      from += value;
    }
    group.append(svg("rect", { class: "hover", x, width: slotWidth, y: 6, height: plot }));
    drawing.append(group);
  });
  if (!stacked) for (const { values, kind } of present) {
    let path = "", isDown = false;
    values.forEach((value, index) => {
      if (value === null || value === undefined) { isDown = false; return; }
      path += `${isDown ? "L" : "M"}${(left + (index + 0.5) * slotWidth).toFixed(1)} ${y(value).toFixed(1)}`;
      // A lone point is a line of no length, which its round ends show.
      if (!isDown && (values[index + 1] ?? null) === null) path += "l0.01 0";
      isDown = true;
    });
    drawing.append(svg("path", { class: `line l${kind.slice(1)}`, d: path }));
  }
  return h("figure", { class: "card" },
    h("figcaption", {}, h("b", {}, name), more && h("span", {}, more)), drawing,
    h("ul", { class: "legend" }, (present.length ? present : series.slice(0, 1)).map(({ name, values, kind }) => h("li", {}, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { class: kind, width: 10, height: 10, rx: 3 })), name, " ", h("b", {}, present.length ? `${shown(stacked ? values.reduce((sum, value) => sum + (value ?? 0), 0) : last(values) ?? 0)}${unit}` : "none")))),
    h("details", { "data-name": name }, h("summary", {}, "As a table"), table(["from", ...present.map(({ name }) => ({ name, num: true }))], slots.map((slot, index) => h("tr", {}, h("td", { class: "when" }, clock(slot, false)), present.map(({ values }) => h("td", { class: "num" }, values[index] === null || values[index] === undefined ? "–" : `${shown(values[index])}${unit}`)))), name)));
}

export const last = values => values.findLast(value => value !== null && value !== undefined);

/** Bars with labels, for two sides: before and after. */
export function pairs(rows, names) {
  const most = Math.max(...rows.flatMap(row => [row.before, row.after]), 1);
  const bar = (value, kind) => h("span", { class: "bar", "aria-hidden": "true" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { width: 100 * value / most, height: 10, class: kind })));
  return h("div", { class: "bars", role: "img", "aria-label": rows.map(row => `${row.name}: ${names[0]} ${row.before}, ${names[1]} ${row.after}`).join("; ") }, rows.map(row => [
    h("span", {}, row.name), bar(row.before, "k8"), h("span", { class: "num dim" }, `${grouped(row.before)} ${names[0]}`),
    h("span", {}), bar(row.after, row.kind), h("span", { class: "num" }, `${grouped(row.after)} ${names[1]}`)]));
}
