import Foundation

/// A body whose fields have rules beyond their types.
protocol ValidatedBody {
  /// Makes cosmetic fields fit, or removes values that cannot fit.
  mutating func normalize(_ ignored: inout IgnoredFields)
  /// Throws the first broken rule.
  func validate() throws(SchemaViolation)
}

extension ChatEventBody: ValidatedBody {}
extension UserEventBody: ValidatedBody {}

extension Event where Body == ChatEventBody {
  /// Makes cosmetic fields fit, and removes those that cannot. Returns the removed ones.
  public mutating func normalize() -> IgnoredFields { normalizeFields() }

  /// Checks the rules that the types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body == UserEventBody {
  /// Makes cosmetic fields fit, and removes those that cannot. Returns the removed ones.
  public mutating func normalize() -> IgnoredFields { normalizeFields() }

  /// Checks the rules that the types cannot express (`SchemaLimits`). Throws the first broken one.
  public func validate() throws(SchemaViolation) { try validateFields() }
}

extension Event where Body: ValidatedBody {
  fileprivate mutating func normalizeFields() -> IgnoredFields {
    var ignored = IgnoredFields()
    body.normalize(&ignored)
    return ignored
  }

  fileprivate func validateFields() throws(SchemaViolation) {
    try FieldRule.eventId(envelope.eventId)
    // Seconds are `too_old` here: ingest compares the time with its clock, and asks for milliseconds.
    try FieldRule.timeInRange(envelope.occurredAt, "occurredAt")
    try body.validate()
  }
}

extension SchemaLimits {
  /// Whether a text can be the id of a user, device, conversation or message.
  package static func isId(_ text: String) -> Bool { (try? FieldRule.id(text, "id")) != nil }

  /// Whether a text can be the id of an event.
  package static func isEventId(_ text: String) -> Bool { (try? FieldRule.eventId(text)) != nil }
}

/// The rules for single fields. A field's path is built only when its rule is broken, because most events are valid.
enum FieldRule {
  static func eventId(_ value: String) throws(SchemaViolation) {
    try characters(value, 1...SchemaLimits.eventIdCharacters, "eventId")
    try noControlCharacters(value, "eventId")
  }

  static func id(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try bytes(value, 1...SchemaLimits.idBytes, field())
    try noControlCharacters(value, field())
  }

  static func id(ifPresent value: String?, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    if let value { try id(value, field()) }
  }

  static func token(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try bytes(value, 1...SchemaLimits.tokenBytes, field())
    try noControlCharacters(value, field())
  }

  /// An http or https URL of printable ASCII. Ingest and dispatcher parse it more strictly and check its host.
  static func endpoint(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try bytes(value, 1...SchemaLimits.endpointCharacters, field())
    let scheme = value.prefix { $0 != ":" }.lowercased()
    guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), scheme == "https" || scheme == "http",
      value.dropFirst(scheme.count).hasPrefix("://")
    else {
      throw SchemaViolation(field: field(), rule: "must be an absolute https URL of printed ASCII characters")
    }
  }

  /// Checks only the form of a subscription's key and secret.
  static func keys(
    _ p256dh: String, _ auth: String, _ field: @autoclosure () -> String
  ) throws(SchemaViolation) {
    guard isBase64URL(p256dh, SchemaLimits.publicKeyCharacters) else {
      throw SchemaViolation(
        field: field() + ".p256dh",
        rule: "must be a point of P-256, 65 bytes uncompressed, in base64url without padding")
    }
    guard isBase64URL(auth, SchemaLimits.secretCharacters) else {
      throw SchemaViolation(field: field() + ".auth", rule: "must be 16 bytes in base64url without padding")
    }
  }

  private static func isBase64URL(_ value: String, _ count: Int) -> Bool {
    value.utf8.count == count
      && value.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }

  static func text(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try bytes(value, 0...SchemaLimits.textBytes, field())
  }

  /// A time in milliseconds. A number that is this century's in seconds is refused: as milliseconds it is a time of
  /// January or February 1970, so a mute until then would end at once, and nobody would learn why.
  static func time(_ value: Milliseconds, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try timeInRange(value, field())
    guard !TimeUnit.seconds.fits(value) else {
      throw SchemaViolation(
        field: field(), rule: "must be in milliseconds. It looks like seconds: did you mean milliseconds?")
    }
  }

  static func timeInRange(_ value: Milliseconds, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    guard (SchemaLimits.earliestTime...SchemaLimits.latestTime).contains(value) else {
      let meant = TimeUnit.allCases.first { $0.fits(value) }.map {
        ". It looks like \($0.rawValue): did you mean milliseconds?"
      }
      throw SchemaViolation(
        field: field(),
        rule: "must be from 1970 to the end of 9999: \(SchemaLimits.earliestTime) to \(SchemaLimits.latestTime) ms"
          + (meant ?? ""))
    }
  }

  /// `HH:MM`, 00:00 to 23:59.
  static func minuteOfDay(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    let digits = Array(value.utf8)
    let isDigit = { (index: Int) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digits[index]) }
    guard digits.count == 5, digits[2] == UInt8(ascii: ":"), isDigit(0), isDigit(1), isDigit(3), isDigit(4),
      digits[0] < UInt8(ascii: "2") || digits[0] == UInt8(ascii: "2") && digits[1] < UInt8(ascii: "4"),
      digits[3] < UInt8(ascii: "6")
    else { throw SchemaViolation(field: field(), rule: "must be a time of day as HH:MM, 00:00 to 23:59") }
  }

  /// A name of the tz database that the system knows.
  static func timeZone(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    try bytes(value, 1...SchemaLimits.timeZoneBytes, field())
    guard TimeZones.isName(value) else {
      throw SchemaViolation(
        field: field(),
        rule:
          "must be a name of the IANA time zone database, such as Europe/Berlin, or UTC; no abbreviation, and no offset"
      )
    }
  }

  /// An app may set the project, which becomes part of the path of FCM's URL. So characters that could end the path
  /// segment are refused.
  static func projectId(ifPresent value: String?, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    guard let value else { return }
    try characters(value, 1...SchemaLimits.projectIdCharacters, field())
    let isLetterOrDigit = { (byte: UInt8) in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let marks = [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":")]
    guard let first = value.utf8.first, isLetterOrDigit(first),
      value.utf8.allSatisfy({ isLetterOrDigit($0) || marks.contains($0) })
    else {
      throw SchemaViolation(
        field: field(),
        rule: "must be a Google project's id or number: a-z, 0-9, '-', '.', ':', a letter or digit first")
    }
  }

  static func count(_ count: Int, atMost limit: Int, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    guard count <= limit else { throw SchemaViolation(field: field(), rule: "must have at most \(limit) entries") }
  }

  static func bytes(
    _ value: String, _ range: ClosedRange<Int>, _ field: @autoclosure () -> String
  ) throws(SchemaViolation) {
    let count = value.utf8.count
    guard count >= range.lowerBound else { throw SchemaViolation(field: field(), rule: "must not be empty") }
    guard count <= range.upperBound else {
      throw SchemaViolation(field: field(), rule: "must have at most \(range.upperBound) bytes of UTF-8")
    }
  }

  static func characters(
    _ value: String, _ range: ClosedRange<Int>, _ field: @autoclosure () -> String
  ) throws(SchemaViolation) {
    // A text has at least as many bytes as characters, so a short one need not be counted.
    guard value.utf8.count > range.upperBound || value.utf8.isEmpty else { return }
    guard !value.utf8.isEmpty || range.lowerBound == 0 else {
      throw SchemaViolation(field: field(), rule: "must not be empty")
    }
    guard value.unicodeScalars.count <= range.upperBound else {
      throw SchemaViolation(field: field(), rule: "must have at most \(range.upperBound) characters")
    }
  }

  static func noControlCharacters(_ value: String, _ field: @autoclosure () -> String) throws(SchemaViolation) {
    guard !hasControlCharacters(value) else {
      throw SchemaViolation(field: field(), rule: "must not contain control characters")
    }
  }

  /// Whether a text has one of C0, DEL or C1 (in UTF-8: C2 80 to C2 9F).
  static func hasControlCharacters(_ value: String) -> Bool {
    // Scans contiguous storage directly, which nearly every string has: twice as fast as through String.
    value.utf8.withContiguousStorageIfAvailable(hasControlCharacters) ?? hasControlCharacters(value.utf8)
  }

  private static func hasControlCharacters(_ bytes: some Sequence<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for byte in bytes {
      if byte < 0x20 || byte == 0x7F || previous == 0xC2 && byte < 0xA0 { return true }
      previous = byte
    }
    return false
  }
}

/// An event with the right fields and types that breaks a rule of its schema.
///
/// The text names the field and the rule, never the value, which may be a token or a message's text (T4).
public struct SchemaViolation: Error, Equatable, Sendable, CustomStringConvertible {
  /// The field's path in the event, e.g. `conversation.members[3].userId`.
  public var field: String
  /// The rule the field breaks, with the limit, e.g. `must have at most 256 bytes`.
  public var rule: String

  /// A broken rule.
  public init(field: String, rule: String) {
    self.field = field
    self.rule = rule
  }

  /// Field and rule, for logs, dead letters and answers over HTTP.
  public var description: String { "\(field) \(rule)" }
}

/// Units that a producer may use by mistake in place of milliseconds since the epoch. A time of this century fits only
/// one of them.
public enum TimeUnit: String, CaseIterable, Sendable {
  /// Seconds.
  case seconds
  /// Microseconds.
  case microseconds
  /// Nanoseconds.
  case nanoseconds

  /// Whether a number is a time from 2001 to 2100 in this unit.
  public func fits(_ value: Int64) -> Bool {
    let century: ClosedRange<Int64> = 978_307_200...4_102_444_800
    return switch self {
    case .seconds: century.contains(value)
    case .microseconds: century.contains(value / 1_000_000)
    case .nanoseconds: century.contains(value / 1_000_000_000)
    }
  }
}
