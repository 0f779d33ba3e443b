import Foundation
import TestSupport
import Testing

/// A browser on a console, with what its pages have in common.
struct ConsolePage {
  let browser: HeadlessBrowser
  let url: String

  /// Opens a view, such as `person?user=ann`, and waits until it is complete and the condition holds.
  func open(_ view: String, until condition: String = "true") throws {
    try browser.open("about:blank")
    try browser.wait(until: "location.href === 'about:blank'")
    try browser.open(url + "&" + view)
    try browser.wait(
      until: "document.querySelector('main h1') && !document.querySelector('.spin') && (\(condition))", atMost: 60)
  }

  /// A view with parameters.
  static func view(_ page: String, _ parameters: [String: String]) -> String {
    page + "?"
      + parameters.sorted { $0.key < $1.key }.map {
        "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
      }
      .joined(separator: "&")
  }

  /// A text as a page shows it: characters that turn or hide what stands beside them by their numbers, and long ones cut.
  static func plain(_ text: String, cutAt most: Int = .max) -> String {
    let shown = text.unicodeScalars.map { scalar -> String in
      switch scalar.value {
      case 0x00...0x08, 0x0B...0x1F, 0x7F...0x9F, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069,
        0xFEFF:
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: return String(scalar)
      }
    }.joined().unicodeScalars
    return shown.count <= most ? String(shown) : String(String.UnicodeScalarView(shown.prefix(most))) + "…"
  }

  func texts(_ selector: String) throws -> [String] {
    try browser.evaluate("[...document.querySelectorAll(`\(selector)`)].map(e => e.textContent)") as? [String] ?? []
  }

  /// Presses the button with this text.
  func press(_ button: String, in selector: String = "body") throws {
    let isThere = try browser.evaluate(
      "(() => { const button = [...document.querySelectorAll(`\(selector) button`)].find(b => b.textContent === '\(button)' && !b.disabled); button?.click(); return Boolean(button); })()"
    )
    #expect(isThere as? Bool == true, "no button \(button)")
  }

  /// Answers the dialog that asks for the reason.
  func giveReason(_ why: String, _ others: KeyValuePairs<String, String> = [:]) throws {
    try browser.wait(until: "document.querySelector('dialog[open] input[name=why]')")
    for (name, value) in others {
      _ = try browser.evaluate("void (document.querySelector('dialog[open] input[name=\(name)]').value = '\(value)')")
    }
    _ = try browser.evaluate(
      "(() => { document.querySelector('dialog[open] input[name=why]').value = '\(why)'; document.querySelector('dialog[open] button.primary').click(); })()"
    )
  }

  /// The numbers of a table's rows, by their `data-part`.
  func numbers(by part: String) throws -> [String: [Int]] {
    let rows = try browser.evaluate(
      """
      Object.fromEntries([...document.querySelectorAll('section[data-by=\(part)] tr[data-part]')].map(row =>
        [row.dataset.part, [...row.querySelectorAll('td.num')].map(cell => Number(cell.textContent.replaceAll(',', '')))]))
      """)
    return (rows as? [String: Any] ?? [:]).mapValues { ($0 as? [Any] ?? []).map { $0 as? Int ?? -1 } }
  }

  /// The sums of a chart's table, by the series' names.
  func sums(ofChart name: String) throws -> [String: Int] {
    let sums = try browser.evaluate(
      """
      (() => {
        const figure = [...document.querySelectorAll('figure')].find(f => f.querySelector('b').textContent === '\(name)');
        const names = [...figure.querySelectorAll('thead th')].slice(1).map(th => th.textContent);
        const rows = [...figure.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td.num')].map(td => Number(td.textContent.replaceAll(',', '')) || 0));
        return Object.fromEntries(names.map((name, index) => [name, rows.reduce((sum, row) => sum + row[index], 0)]));
      })()
      """)
    return (sums as? [String: Any] ?? [:]).mapValues { $0 as? Int ?? -1 }
  }

  // MARK: For everybody

  /// Looks for what keeps people from using it: on a wide and on a narrow window, light and dark, and with the Tab key.
  /// `isThorough`: also with axe-core and the Tab key, which take seconds.
  func inspect(_ name: String, isThorough: Bool = true) throws {
    for (width, isDark) in [(1_280, false), (390, true)] {
      try browser.resize(width: width, height: 900, isDark: isDark)
      let complaints = try browser.evaluate(PageInspection.complaints) as? [String] ?? ["nothing was looked at"]
      #expect(complaints.isEmpty, "\(name), \(width) pixels wide: \(complaints.joined(separator: "\n"))")
      if isThorough, let axe = PageInspection.axe {
        if try browser.evaluate("Boolean(window.axe)") as? Bool != true {
          _ = try browser.evaluate(axe + "; undefined")
        }
        let violations = try browser.evaluate(PageInspection.axeViolations) as? [String] ?? ["axe did not run"]
        #expect(violations.isEmpty, "\(name), \(width) pixels wide, axe: \(violations.joined(separator: "\n"))")
      }
    }
    try browser.resize(width: 1_280, height: 900, isDark: false)
    if isThorough { try tab(name) }
    #expect(try browser.evaluate("window.ran") == nil, "\(name): a text ran")
    #expect(browser.complaints.isEmpty, "\(name): \(browser.complaints)")
  }

  /// The Tab key reaches all that can be used, in the order of the page, and shows where it is.
  private func tab(_ name: String) throws {
    _ = try browser.evaluate("(() => { window.scrollTo(0, 0); \(PageInspection.stops)[0].focus(); })()")
    let count = try browser.evaluate("\(PageInspection.stops).length") as? Int ?? 0
    #expect(count > 5)
    for number in 1..<min(count, 45) {
      try browser.press("Tab")
      let at =
        try browser.evaluate(
          """
          (() => { const at = document.activeElement, style = getComputedStyle(at);
            return [\(PageInspection.stops).indexOf(at), at.matches(':focus-visible') && parseFloat(style.outlineWidth) > 0 || at.tagName === 'IFRAME' ? 1 : 0, at.outerHTML.slice(0, 120)]; })()
          """) as? [Any]
      guard at?[0] as? Int == number, at?[1] as? Int == 1 else {
        Issue.record("\(name): stop \(number) of \(count) of the Tab key is \(at ?? [])")
        return
      }
      // The keys go to the frame's page from here on.
      if (at?[2] as? String)?.hasPrefix("<iframe") == true { return }
    }
  }
}
