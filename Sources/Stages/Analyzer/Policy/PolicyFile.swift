import Foundation
import NudgeSchema
import ServiceKit
import Synchronization

/// The policy in force. It comes from a file that is read again when it changes and on SIGHUP.
///
/// A file that cannot be used is logged, and the former policy stays in force. Instances read the file independently,
/// so for about a second they may decide by different versions. Each decision names its version.
final class PolicyFile: ReloadingService {
  let name = "policy"

  /// The content of the file.
  enum Content: Sendable {
    /// A whole policy (`--policy`).
    case policy
    /// Only simple rules (`--simple-rules`).
    case simpleRules
  }

  private struct State {
    var file: WatchedFile
    var current: PolicyVersion
  }
  private let state: Mutex<State>
  private let timer = RepeatingTimer("nudge.policy", every: PolicyFile.interval)
  private let content: Content
  /// The values of fields that the file does not set.
  private let defaults: NotificationPolicy
  private let hash: @Sendable ([UInt8]) -> [UInt8]
  private let logger: Logger

  /// How often the file is checked.
  private static let interval: Duration = .seconds(1)

  /// Reads the file.
  /// - Throws: `SettingsError`, which says what is wrong with the file.
  init(
    path: String, _ content: Content, defaults: NotificationPolicy, hash: @escaping @Sendable ([UInt8]) -> [UInt8],
    logger: Logger
  ) throws(SettingsError) {
    self.content = content
    self.defaults = defaults
    self.hash = hash
    self.logger = logger
    var file = WatchedFile(path: path)
    do {
      let policy = try content.policy(try file.changed(force: true) ?? [], defaults)
      state = Mutex(State(file: file, current: PolicyVersion(policy, hash: hash)))
    } catch {
      throw SettingsError("\(content.flag) \(path): \(error)")
    }
  }

  /// The policy in force.
  var current: PolicyVersion { state.withLock { $0.current } }

  /// The check for `--check`.
  var check: ServiceCheck {
    ServiceCheck("policy") { [self] in "version \(current.version), \(current.policy.simpleRules.count) simple rules" }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.read(force: false) }
  }

  func stop() { timer.stop() }

  func reload() { read(force: true) }

  private func read(force: Bool) {
    state.withLock { state in
      do {
        guard let bytes = try state.file.changed(force: force) else { return }
        let read = PolicyVersion(try content.policy(bytes, defaults), hash: hash)
        if read.version != state.current.version || force {
          logger.notice(
            "the policy was read again",
            ["version": .string(read.version), "former": .string(state.current.version)])
        }
        if read.version != state.current.version { state.current = read }
      } catch {
        logger.error(
          "the policy cannot be read again; the former one stays in force",
          ["version": .string(state.current.version), "reason": "\(error)"])
      }
    }
  }
}

extension PolicyFile.Content {
  /// The setting that names the file.
  var flag: String {
    switch self {
    case .policy: "--policy"
    case .simpleRules: "--simple-rules"
    }
  }

  /// Parses a file's content.
  func policy(_ bytes: [UInt8], _ defaults: NotificationPolicy) throws(PolicyError) -> NotificationPolicy {
    switch self {
    case .policy: return try NotificationPolicy(json: bytes, defaults: defaults)
    case .simpleRules:
      var policy = defaults
      policy.simpleRules = try SimpleRules(json: bytes)
      return policy
    }
  }
}

/// An error in a policy file or a file of simple rules.
public struct PolicyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The field and the broken rule, for the author of the file.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Any JSON value of a policy file.
enum PolicyValue: Decodable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([PolicyValue])
  case object([String: PolicyValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([PolicyValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: PolicyValue].self))
    }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// An object of a policy file. An unknown field is refused, because a typing error would silently change decisions.
struct PolicyFields {
  private let fields: [String: PolicyValue]
  private let place: String

  /// The outermost object of a file.
  init(json bytes: [UInt8], known: Set<String>) throws(PolicyError) {
    let value: PolicyValue
    do {
      value = try JSONDecoder().decode(PolicyValue.self, from: Data(bytes))
    } catch {
      throw PolicyError("it is no JSON: \(Self.fault(error))")
    }
    try self.init(value, "", known: known)
  }

  private static func fault(_ error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
    return context.underlyingError.map { "\($0)" } ?? context.debugDescription
  }

  init(_ value: PolicyValue, _ place: String, known: Set<String>? = nil) throws(PolicyError) {
    let name = place.isEmpty ? "the file" : place
    guard case .object(let fields) = value else { throw PolicyError("\(name): it must be an object") }
    if let known, let other = fields.keys.filter({ !known.contains($0) }).sorted().first {
      throw PolicyError("\(name): \"\(other)\" is not known; there are \(known.sorted().joined(separator: ", "))")
    }
    self.fields = fields
    self.place = place
  }

  var names: [String] { fields.keys.sorted() }

  /// The path of a field, for errors.
  func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  func has(_ name: String) -> Bool { fields[name] != nil }

  func object(_ name: String, known: Set<String>? = nil) throws(PolicyError) -> PolicyFields? {
    guard let value = fields[name] else { return nil }
    return try PolicyFields(value, path(name), known: known)
  }

  func text(_ name: String, characters: ClosedRange<Int>) throws(PolicyError) -> String {
    guard let text = fields[name]?.text, characters.contains(text.count),
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw PolicyError(
        "\(path(name)): it must be a text of \(characters.lowerBound) to \(characters.upperBound) characters")
    }
    return text
  }

  func list(_ name: String) throws(PolicyError) -> [PolicyValue] {
    guard case .list(let list)? = fields[name] else { throw PolicyError("\(path(name)): it must be a list") }
    return list
  }

  func texts(_ name: String, atMost count: Int, characters: ClosedRange<Int>) throws(PolicyError) -> [String] {
    let list = try list(name)
    guard list.count <= count else {
      throw PolicyError("\(path(name)): there are \(list.count) texts; at most \(count) are allowed")
    }
    var texts: [String] = []
    for (index, item) in list.enumerated() {
      guard let text = item.text, characters.contains(text.count) else {
        throw PolicyError(
          "\(path(name))[\(index)]: it must be a text of \(characters.lowerBound) to \(characters.upperBound) characters"
        )
      }
      texts.append(text)
    }
    return texts
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(PolicyError) -> Choice {
    guard let text = fields[name]?.text, let choice = Choice(rawValue: text) else {
      let choices = Choice.allCases.map(\.rawValue)
      throw PolicyError(
        "\(path(name)): it must be \(choices.dropLast().joined(separator: ", ")) or \(choices.last ?? "")")
    }
    return choice
  }

  /// Sets a number if the field is present.
  func number(_ name: String, in range: ClosedRange<Double>, into value: inout Double) throws(PolicyError) {
    guard let field = fields[name] else { return }
    guard case .number(let number) = field, range.contains(number) else {
      throw PolicyError("\(path(name)): it must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    value = number
  }

  /// Sets an integer or nil if the field is present.
  func integer(_ name: String, in range: ClosedRange<Int>, into value: inout Int?) throws(PolicyError) {
    if case .null? = fields[name] {
      value = nil
      return
    }
    var whole = range.lowerBound
    try integer(name, in: range, into: &whole)
    if has(name) { value = whole }
  }

  /// Sets a minute of the day from `HH:MM` if the field is present.
  func minuteOfDay(_ name: String, into value: inout Int) throws(PolicyError) {
    guard let field = fields[name] else { return }
    guard let minute = field.text.flatMap({ QuietSpan.minutes($0) }) else {
      throw PolicyError("\(path(name)): it must be a time of day as HH:MM, 00:00 to 23:59")
    }
    value = minute
  }

  /// Sets an integer if the field is present.
  func integer(_ name: String, in range: ClosedRange<Int>, into value: inout Int) throws(PolicyError) {
    guard let field = fields[name] else { return }
    guard case .number(let number) = field, let whole = Int(exactly: number), range.contains(whole) else {
      throw PolicyError("\(path(name)): it must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    value = whole
  }
}
