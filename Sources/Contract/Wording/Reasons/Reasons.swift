/// The words of one language for why a message was, or was not, notified. A code that is left out does not compile.
public struct Reasons: Sendable, Equatable {
  private let templates: [Template]
  /// The separators between reasons, and before the last of several.
  private let separator: String
  private let lastSeparator: String

  /// - Parameters:
  ///   - separator: Between reasons.
  ///   - lastSeparator: Before the last of two or more.
  ///   - words: The words for a code.
  init(separator: String, lastSeparator: String, words: (ReasonCode) -> String) {
    templates = ReasonCode.allCases.map { Template(words($0)) }
    self.separator = separator
    self.lastSeparator = lastSeparator
  }

  /// Whether both say the same.
  public static func == (a: Reasons, b: Reasons) -> Bool {
    a.templates == b.templates && a.separator == b.separator && a.lastSeparator == b.lastSeparator
  }

  /// The words for a code.
  public func text(_ code: ReasonCode, _ values: ReasonValues = ReasonValues()) -> String {
    templates[code.rawValue].filled(with: values)
  }

  /// The words for several, as one enumeration.
  public func list(_ codes: [ReasonCode], _ values: ReasonValues) -> String {
    var text = ""
    for (place, code) in codes.enumerated() {
      if place > 0 { text += place == codes.count - 1 ? lastSeparator : separator }
      text += self.text(code, values)
    }
    return text
  }

  /// The names of the places in a code's sentence.
  func places(of code: ReasonCode) -> Set<String> { templates[code.rawValue].places }
}

/// A text with places for values, taken apart once.
struct Template: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case place(String)
  }
  private let parts: [Part]

  init(_ text: String) {
    var parts: [Part] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      parts.append(.place(String(rest[rest.index(after: open)..<close])))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  var places: Set<String> {
    Set(parts.compactMap { if case .place(let name) = $0 { name } else { nil } })
  }

  func filled(with values: ReasonValues) -> String {
    if parts.count == 1, case .text(let text) = parts[0] { return text }
    var text = ""
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .place("sender"): text += values.sender
      case .place("time"): text += values.time
      case .place("start"): text += values.start
      case .place("end"): text += values.end
      case .place("zone"): text += values.zone
      case .place("limit"): text += values.limit
      case .place("budget"): text += values.dailyAlerts
      case .place("reasons"): text += values.reasons
      case .place: break
      }
    }
    return text
  }
}
