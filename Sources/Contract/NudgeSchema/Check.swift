/// One check of a decision (D10).
///
/// In JSON, a check that passed without inputs is only its name. Any other check is an object; if it has no `result`,
/// it passed.
public struct Check: Codable, Sendable, Equatable {
  /// The check's name: the reason with which it suppresses, or `priority`.
  public var check: String
  /// Whether it let the message pass.
  public enum Result: String, NamedValue {
    /// Let pass.
    case pass
    /// Suppressed here.
    case suppress
  }
  /// Whether it let the message pass.
  public var result: Result
  /// The values it compared, if they add something to the result and the decision's other fields.
  public var inputs: CheckInputs

  /// A check.
  public init(check: String, result: Result = .pass, inputs: CheckInputs = [:]) {
    self.check = check
    self.result = result
    self.inputs = inputs
  }

  /// Whether it passed without inputs.
  public var isNameOnly: Bool { result == .pass && inputs.isEmpty }

  private enum CodingKeys: String, CodingKey { case check, result, inputs }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self.init(check: name)
      return
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      check: try fields.decode(String.self, forKey: .check),
      result: try fields.decodeIfPresent(Result.self, forKey: .result) ?? .pass,
      inputs: try fields.decodeIfPresent(CheckInputs.self, forKey: .inputs) ?? [:])
  }

  /// Writes the value; see `isNameOnly`.
  public func encode(to encoder: any Encoder) throws {
    guard !isNameOnly else {
      var name = encoder.singleValueContainer()
      return try name.encode(check)
    }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(check, forKey: .check)
    if result != .pass { try fields.encode(result, forKey: .result) }
    if !inputs.isEmpty { try fields.encode(inputs, forKey: .inputs) }
  }
}

/// The values a check compared, by name: ids, times in milliseconds, numbers and switches; never a message's text or a
/// token (T4). A sequence in the order of the names.
public struct CheckInputs: Sendable, Equatable, ExpressibleByDictionaryLiteral, Sequence {
  /// An input's value.
  public enum Value: Sendable, Equatable {
    /// A time, a count.
    case number(Int64)
    /// An id, a time of day, a code.
    case text(String)
    /// A yes or no.
    case flag(Bool)
  }

  private var entries: [(name: String, value: Value)] = []

  /// Inputs by name. If a name is repeated, its last value counts.
  public init(dictionaryLiteral elements: (String, Value)...) {
    entries.reserveCapacity(elements.count)
    for (name, value) in elements {
      // Names are mostly given in order already.
      if entries.last.map({ $0.name < name }) ?? true { entries.append((name, value)) } else { self[name] = value }
    }
  }

  /// Whether there are none.
  public var isEmpty: Bool { entries.isEmpty }

  /// An input by its name; setting nil removes it.
  public subscript(name: String) -> Value? {
    get { entries.first { $0.name == name }?.value }
    set {
      let index = entries.firstIndex { $0.name >= name } ?? entries.endIndex
      if index < entries.endIndex, entries[index].name == name { entries.remove(at: index) }
      if let newValue { entries.insert((name, newValue), at: index) }
    }
  }

  /// All of them.
  public func makeIterator() -> IndexingIterator<[(name: String, value: Value)]> { entries.makeIterator() }

  /// Whether names and values are the same.
  public static func == (a: CheckInputs, b: CheckInputs) -> Bool {
    a.entries.elementsEqual(b.entries) { $0.name == $1.name && $0.value == $1.value }
  }
}

extension CheckInputs.Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
  /// A number.
  public init(integerLiteral value: Int64) { self = .number(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// A switch.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension CheckInputs.Value: Codable, CustomStringConvertible {
  /// Reads a string, an integer, `true` or `false`.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else {
      self = .number(try value.decode(Int64.self))
    }
  }

  /// Writes the value as a JSON string, number or boolean.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .flag(let flag): try container.encode(flag)
    }
  }

  /// The value as in JSON, without quotes.
  public var description: String {
    switch self {
    case .number(let number): String(number)
    case .text(let text): text
    case .flag(let flag): String(flag)
    }
  }
}

extension CheckInputs: Codable {
  private struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads an object with any names.
  public init(from decoder: any Decoder) throws {
    self.init()
    let fields = try decoder.container(keyedBy: Name.self)
    for name in fields.allKeys { self[name.stringValue] = try fields.decode(Value.self, forKey: name) }
  }

  /// Writes an object.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Name.self)
    for (name, value) in self { try fields.encode(value, forKey: Name(stringValue: name)) }
  }
}

/// The order of the checks (D). It restores the checks that a decision's record omits: those that passed without
/// inputs.
public enum CheckOrder {
  /// The fields of a decision's record that show which checks were made.
  public struct Facts: Sendable {
    /// Whether a replay asked for the decision.
    public var isReplay: Bool
    /// Whether the hourly limit was checked.
    public var hasAnalysis: Bool
    /// Whether the priority was checked.
    public var hasPriority: Bool

    /// The facts of a decision.
    public init(isReplay: Bool, hasAnalysis: Bool, hasPriority: Bool) {
      self.isReplay = isReplay
      self.hasAnalysis = hasAnalysis
      self.hasPriority = hasPriority
    }
  }

  /// A check as it stands in a record.
  public struct Written: Sendable {
    /// The check's name.
    public var name: String
    /// Whether it passed and is written as its name, or with `result`. Only releases that wrote every check do so.
    public var isPlain: Bool
    /// Whether it suppressed, so that no later check was made.
    public var suppresses: Bool

    /// A check of a record.
    public init(name: String, isPlain: Bool, suppresses: Bool) {
      self.name = name
      self.isPlain = isPlain
      self.suppresses = suppresses
    }
  }

  /// A check that was made.
  public enum Made: Sendable, Equatable {
    /// The check's index in the record.
    case written(Int)
    /// The check passed without inputs, so the record omits it.
    case passed(String)
  }

  /// The checks that were made, in order.
  public static func made(_ written: [Written], _ facts: Facts) -> [Made] {
    guard !written.isEmpty, !written.contains(where: \.isPlain) else { return written.indices.map { .written($0) } }
    var made: [Made] = []
    var next = 0
    for step in steps {
      if next < written.count, written[next].name == step.reason {
        made.append(.written(next))
        next += 1
        if written[next - 1].suppresses { break }
      } else if step.isMade(facts) {
        made.append(.passed(step.reason))
      }
    }
    return made + (next..<written.count).map { .written($0) }
  }

  private struct Step {
    let reason: String
    /// Whether the check is made if no earlier one suppressed.
    let isMade: @Sendable (Facts) -> Bool

    init(_ reason: DecisionReason, _ isMade: @escaping @Sendable (Facts) -> Bool = { _ in true }) {
      self.init(name: reason.rawValue, isMade)
    }

    init(name: String, _ isMade: @escaping @Sendable (Facts) -> Bool) { (reason, self.isMade) = (name, isMade) }
  }

  /// Some checks are written only if they suppress, or always have inputs.
  private static let steps = [
    Step(.replayStopped) { $0.isReplay }, Step(.duplicate), Step(.withdrawn) { $0.isReplay },
    Step(.history) { _ in false },
    Step(.notificationsDisabled), Step(.conversationMuted), Step(.mutedSender) { _ in false }, Step(.alreadyRead),
    Step(.expired), Step(.activeConversation), Step(.level) { _ in false }, Step(.analysisLimit) { $0.hasAnalysis },
    Step(name: "priority") { $0.hasPriority }, Step(.quietHours), Step(.noDevice) { _ in false },
    Step(.replayLimit) { _ in false },
  ]
}

extension DecisionBody {
  /// All checks that were made, in order: those in the record, and those that passed without inputs.
  public var allChecks: [Check] {
    let facts = CheckOrder.Facts(
      isReplay: replayId != nil, hasAnalysis: analysis != nil, hasPriority: priority != nil)
    let written = checks.map {
      CheckOrder.Written(name: $0.check, isPlain: $0.isNameOnly, suppresses: $0.result == .suppress)
    }
    return CheckOrder.made(written, facts).map { made in
      switch made {
      case .written(let place): checks[place]
      case .passed(let name): Check(check: name)
      }
    }
  }
}
