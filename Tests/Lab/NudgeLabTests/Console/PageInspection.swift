import Foundation
import TestSupport

/// Checks in the browser that a page can be used with the keyboard, a screen reader and weak eyes.
enum PageInspection {
  /// axe-core, which `make tools` installs from PyPI; nil: it is not installed, and the page is looked at without it.
  static let axe: String? = {
    let libraries = Repository.file(".build/python/lib")
    let versions = (try? FileManager.default.contentsOfDirectory(at: libraries, includingPropertiesForKeys: nil)) ?? []
    return versions.lazy.compactMap {
      try? String(
        contentsOf: $0.appendingPathComponent("site-packages/axe_playwright_python/axe.min.js"), encoding: .utf8)
    }.first
  }()

  /// A JavaScript expression: what axe found, one text each. The frames of others are left out, and the drawn phone, whose ground is a gradient.
  static let axeViolations = #"""
    axe.run({ exclude: [[".screen"]] }, { resultTypes: ["violations"], iframes: false }).then(found => found.violations.flatMap(violation =>
      violation.nodes.slice(0, 5).map(node => `${violation.id} (${violation.impact}): ${node.html.slice(0, 200)} ${node.any.concat(node.all, node.none).map(check => check.message).join("; ").slice(0, 300)}`)))
    """#

  /// A JavaScript expression: all that the Tab key should reach, in the order of the page.
  static let stops = #"""
    [...document.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex="0"]')].filter(element => !element.disabled && element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && element.getClientRects().length > 0 && !element.closest("dialog:not([open])"))
    """#

  /// A JavaScript expression: complaints, one text each.
  static let complaints = #"""
    (() => {
      const said = [];
      const tell = (what, element) => said.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
      const isShown = element => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
      const name = element => (element.getAttribute("aria-label") || (element.labels?.[0]?.textContent ?? "") || element.textContent || element.getAttribute("title") || element.querySelector?.("img")?.alt || "").trim();
      for (const element of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
        if (isShown(element) && !name(element)) tell("no name", element);
        if (element.tabIndex > 0) tell("a tab order of its own", element);
      }
      for (const input of document.querySelectorAll("input, select, textarea")) if (isShown(input) && !input.labels?.length && !input.getAttribute("aria-label")) tell("no label", input);
      for (const image of document.querySelectorAll("img")) if (image.getAttribute("alt") === null) tell("no alt", image);
      for (const picture of document.querySelectorAll("svg")) if (isShown(picture) && !picture.closest("[aria-hidden], [role=img]") && picture.getAttribute("aria-hidden") !== "true" && picture.getAttribute("role") !== "img") tell("a picture without a name", picture);
      for (const frame of document.querySelectorAll("iframe")) if (!frame.title) tell("a frame without a title", frame);
      for (const scrolling of document.querySelectorAll("*")) {
        const style = getComputedStyle(scrolling);
        if (isShown(scrolling) && /auto|scroll/.test(style.overflowX + style.overflowY) && (scrolling.scrollHeight > scrolling.clientHeight + 1 || scrolling.scrollWidth > scrolling.clientWidth + 1) && scrolling.tabIndex < 0 && !scrolling.querySelector("a[href], button, input, [tabindex]")) tell("scrolls, and no key reaches it", scrolling);
      }
      const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
      for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) said.push(`the id ${id} twice`);
      if (document.querySelectorAll("main h1").length !== 1) said.push("not one heading of the page");
      if (!document.documentElement.lang) said.push("no language");
      if (document.documentElement.scrollWidth > innerWidth) said.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);

      const rgba = text => (text.match(/[\d.]+/g) ?? []).map(Number);
      const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)); };
      const light = color => { const [r, g, b] = color.map(c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const behind = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
          const style = getComputedStyle(e);
          if (style.backgroundImage !== "none") return null;
          const color = rgba(style.backgroundColor);
          if ((color[3] ?? 1) > 0) layers.push(color);
          if ((color[3] ?? 1) === 1) break;
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
      };
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.textContent.trim() || !isShown(element) || element.closest("svg, option, script, :disabled, #said, .skip")) continue;
        const ground = behind(element), style = getComputedStyle(element);
        if (!ground) continue;
        const ink = over(rgba(style.color), ground), [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
        if (ratio < (size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5)) said.push(`contrast ${ratio.toFixed(2)} of "${node.textContent.trim().slice(0, 40)}" in ${element.className || element.tagName}`);
      }
      return [...new Set(said)].slice(0, 20);
    })()
    """#
}
