/// FCM's verdict on the body of a `messages:send` request.
enum MessageVerdict {
  /// FCM would send the message, or only validate it. `token` is absent for a topic or condition.
  case valid(token: JSONString?, validateOnly: Bool)
  /// FCM refuses the message with this answer.
  case refused(EmulatorAnswer)
}

/// Checks the body of a `messages:send` request in one pass over its bytes, as strictly as FCM does.
///
/// The limits are those of FCM's reference: 4,096 bytes of payload for each platform, ttl 0–2,419,200 s, reserved data keys. A platform's
/// payload has the keys and values of `data`, of `notification` and of the platform's own section. Two limits are Apple's: at most 64 bytes
/// of `apns-collapse-id`, and `apns-priority` 5 or 10.
struct MessageValidator {
  /// The most bytes of keys and values in a platform's payload.
  static let maxPayload = 4_096
  static let maxTimeToLive = 2_419_200
  static let maxCollapseID = 64

  /// Why a body is refused.
  private enum Refusal: Error {
    case json(JSONFault)
    /// Google's front end refuses this field, with this text.
    case structure(String, String)
    /// FCM refuses this field, with this text.
    case value(String, String)
    case tooLarge
  }

  private var cursor: JSONCursor
  private let schema = MessageSchema.shared
  /// The names of the enclosing objects, for the text of a refusal.
  private var path: [StaticString] = []
  private var payload: (common: Int, android: Int, apns: Int, webpush: Int) = (0, 0, 0, 0)
  private var token: JSONString?
  private var targets = 0
  private var validateOnly = false
  private var hasMessage = false

  static func check(start: UnsafePointer<UInt8>, count: Int) -> MessageVerdict {
    var validator = MessageValidator(cursor: JSONCursor(start: start, count: count))
    do throws(Refusal) {
      try validator.request()
      return .valid(token: validator.token, validateOnly: validator.validateOnly)
    } catch {
      switch error {
      case .json(.syntax):
        return .refused(.error(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Not valid JSON in UTF-8."))
      case .json(.tooDeep):
        return .refused(.error(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Message too deep."))
      case .structure(let field, let message): return .refused(.invalid(message, field: field, isMessage: false))
      case .value(let field, let message): return .refused(.invalid(message, field: field, isMessage: true))
      case .tooLarge: return .refused(EmulatorAnswer(.tooLarge))
      }
    }
  }

  private init(cursor: JSONCursor) {
    self.cursor = cursor
  }

  private mutating func request() throws(Refusal) {
    try object(.request, section: .none)
    try json { (cursor) throws(JSONFault) in try cursor.finish() }
    guard hasMessage, targets > 0 else {
      throw .value("message", "Exactly one of token, topic or condition must be set in the message.")
    }
    guard payload.common + max(payload.android, payload.apns, payload.webpush) <= Self.maxPayload else {
      throw .tooLarge
    }
  }

  private mutating func object(_ object: MessageSchema.Object, section: MessageSchema.Section) throws(Refusal) {
    guard cursor.peek() == 0x7B else { throw wrongType() }
    try take(0x7B)
    if object == .message { hasMessage = true }
    if cursor.takeIf(0x7D) { return }
    var seen: UInt64 = 0
    repeat {
      let name = try string()
      try take(0x3A)
      guard let (index, field) = schema.field(name, of: object) else {
        throw .structure(
          place,
          "Invalid JSON payload received. Unknown name \"\(name.string)\""
            + (path.isEmpty ? "" : " at '\(place)'") + ": Cannot find field.")
      }
      guard seen & 1 << UInt64(index) == 0 else {
        throw .structure(
          place, "Invalid JSON payload received. Duplicate name \"\(name.string)\" at '\(place)'.")
      }
      seen |= 1 << UInt64(index)
      path.append(field.pointee.name)
      try value(field, keyBytes: name.count, section: section)
      path.removeLast()
    } while cursor.takeIf(0x2C)
    try take(0x7D)
  }

  private mutating func value(
    _ field: UnsafePointer<MessageSchema.Field>, keyBytes: Int, section outer: MessageSchema.Section
  ) throws(Refusal) {
    let first = cursor.peek()
    if first == 0x6E {
      // A null field counts as missing.
      _ = try scalar()
      return
    }
    let section = field.pointee.section == .none ? outer : field.pointee.section
    // The name of a section, such as `data`, is FCM's and does not count towards the payload. The names inside the section do.
    let counted = outer == .none ? 0 : keyBytes
    switch field.pointee.kind {
    case .string:
      let text = try stringValue()
      add(counted + text.count, to: section)
      if field.pointee.target != .none { try target(text, field.pointee.target) }
    case .picture, .link:
      let text = try stringValue()
      let isLink = if case .link = field.pointee.kind { true } else { false }
      guard text.withBytes({ Self.isAddress($0, https: isLink) }) else {
        throw .value(
          place, "Invalid value at '\(place)': it must be an absolute \(isLink ? "https" : "http or https") URL.")
      }
      add(counted + text.count, to: section)
    case .label:
      let text = try stringValue()
      guard text.withBytes({ (1...50).contains($0.count) && $0.allSatisfy(Self.isOfLabel) }) else {
        throw .value(place, "Invalid value at '\(place)': it must match ^[a-zA-Z0-9-_.~%]{1,50}$.")
      }
      add(counted + text.count, to: section)
    case .bool:
      guard first == 0x74 || first == 0x66 else { throw wrongType("TYPE_BOOL") }
      let text = try scalar()
      add(counted + text.count, to: section)
      if path.count == 1 { validateOnly = first == 0x74 }
    case .integer:
      add(counted + (try integer()), to: section)
    case .number:
      guard first == 0x2D || first &- 0x30 < 10 else { throw wrongType("TYPE_FLOAT") }
      add(counted + (try scalar().count), to: section)
    case .word:
      let text = try stringValue()
      guard field.pointee.words.contains(where: { Self.isWord(text, $0) }) else {
        throw .structure(place, "Invalid value at '\(place)': \"\(text.string)\" is not a name of its enumeration.")
      }
      add(counted + text.count, to: section)
    case .duration, .timeToLive:
      let text = try stringValue()
      try duration(text, isTimeToLive: { if case .timeToLive = field.pointee.kind { true } else { false } }())
      add(counted + text.count, to: section)
    case .strings, .durations:
      try list(isDurations: { if case .durations = field.pointee.kind { true } else { false } }(), section)
    case .map(let map):
      try self.map(map, section: section)
    case .object(let object):
      try self.object(object, section: section)
    case .any:
      guard first == 0x7B else { throw wrongType() }
      add(try json { (cursor) throws(JSONFault) in try cursor.anyValue(depth: 3) }, to: section)
    }
  }

  private mutating func target(_ text: JSONString, _ target: MessageSchema.Target) throws(Refusal) {
    targets += 1
    guard targets == 1 else {
      throw .structure("message", "Invalid value at 'message' (oneof), oneof field 'target' is already set.")
    }
    if target == .token {
      let usable = text.withBytes { bytes in !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
      guard usable else {
        throw .value("message.token", "The registration token is not a valid FCM registration token")
      }
      token = text
    } else if text.count == 0 {
      throw .value(place, "Invalid value at '\(place)': must not be empty.")
    }
  }

  private mutating func map(_ map: MessageSchema.Map, section: MessageSchema.Section) throws(Refusal) {
    guard cursor.peek() == 0x7B else { throw wrongType() }
    try take(0x7B)
    if cursor.takeIf(0x7D) { return }
    var index = 0
    repeat {
      let name = try string()
      try take(0x3A)
      guard cursor.peek() == 0x22 else {
        let at = "\(place)[\(index)].value"
        throw .structure(at, "Invalid value at '\(at)' (TYPE_STRING), key \"\(name.string)\": it must be a string.")
      }
      let value = try string()
      switch map {
      case .data:
        if name.count == 0 { throw .value(place, "Invalid data payload key: it is empty") }
        if Self.isReserved(name) { throw .value(place, "Invalid data payload key: \(name.string)") }
      case .apnsHeaders:
        try header(name, value)
        try apnsHeader(name, value)
      case .headers: try header(name, value)
      }
      add(name.count + value.count, to: section)
      index += 1
    } while cursor.takeIf(0x2C)
    try take(0x7D)
  }

  /// Checks an HTTP header: the name is a token, and the value has only printable ASCII characters (RFC 9110, 5.5 and 5.6.2).
  private func header(_ name: JSONString, _ value: JSONString) throws(Refusal) {
    let isToken = name.withBytes { bytes in
      !bytes.isEmpty && bytes.allSatisfy { Self.isOfLabel($0) || "!#$&'*+^`|".utf8.contains($0) }
    }
    guard isToken, value.withBytes({ $0.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }) else {
      throw .value(
        place, "Invalid value at '\(place)': the header \(name.string) has characters that HTTP does not allow.")
    }
  }

  private mutating func apnsHeader(_ name: JSONString, _ value: JSONString) throws(Refusal) {
    if name.equals("apns-priority") {
      guard value.equals("5") || value.equals("10") else {
        throw .value(place, "Invalid value at '\(place)': apns-priority must be 5 or 10.")
      }
    } else if name.equals("apns-collapse-id") {
      guard value.count <= Self.maxCollapseID else {
        throw .value(place, "Invalid value at '\(place)': apns-collapse-id exceeds \(Self.maxCollapseID) bytes.")
      }
    } else if name.equals("apns-expiration") {
      guard value.withBytes({ !$0.isEmpty && $0.allSatisfy { $0 &- 0x30 < 10 } }) else {
        throw .value(place, "Invalid value at '\(place)': apns-expiration must be seconds since the epoch.")
      }
    }
  }

  private mutating func list(isDurations: Bool, _ section: MessageSchema.Section) throws(Refusal) {
    guard cursor.peek() == 0x5B else { throw wrongType() }
    try take(0x5B)
    if cursor.takeIf(0x5D) { return }
    repeat {
      let text = try stringValue()
      if isDurations { try duration(text, isTimeToLive: false) }
      add(text.count, to: section)
    } while cursor.takeIf(0x2C)
    try take(0x5D)
  }

  /// Consumes an integer of 32 bits. Protocol buffers allow a number or a string. Returns its length.
  private mutating func integer() throws(Refusal) -> Int {
    func isInteger(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      let digits = bytes.first == 0x2D ? bytes.dropFirst() : bytes[...]
      // Int32 would accept a plus sign, which JSON does not have.
      return digits.first.map { $0 &- 0x30 < 10 } == true && Int32(String(decoding: bytes, as: UTF8.self)) != nil
    }
    if cursor.peek() == 0x22 {
      let text = try string()
      guard text.withBytes(isInteger) else { throw wrongType("TYPE_INT32") }
      return text.count
    }
    guard cursor.peek() == 0x2D || cursor.peek() &- 0x30 < 10 else { throw wrongType("TYPE_INT32") }
    let text = try scalar()
    guard isInteger(text) else { throw wrongType("TYPE_INT32") }
    return text.count
  }

  private func duration(_ text: JSONString, isTimeToLive: Bool) throws(Refusal) {
    let seconds = text.withBytes(Self.wholeSeconds)
    guard let seconds else {
      throw .structure(
        place,
        "Invalid value at '\(place)': illegal duration format; a duration is seconds with up to nine decimals and ends in 's'."
      )
    }
    // The seconds are rounded up, so 2,419,200.1 s is above the limit.
    guard !isTimeToLive || seconds <= Self.maxTimeToLive else {
      throw .value(place, "Invalid value at '\(place)': ttl must be between 0 and \(Self.maxTimeToLive) seconds.")
    }
  }

  /// The seconds of a duration such as `"3.5s"`, rounded up. Absent if the text is not a duration, or a negative one.
  private static func wholeSeconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard bytes.last == 0x73 else { return nil }
    var seconds = 0
    var index = 0
    while index < bytes.count - 1, bytes[index] &- 0x30 < 10 {
      guard index < 12 else { return nil }
      seconds = seconds * 10 + Int(bytes[index] - 0x30)
      index += 1
    }
    guard index > 0 else { return nil }
    if index == bytes.count - 1 { return seconds }
    guard bytes[index] == 0x2E else { return nil }
    let decimals = bytes[(index + 1)..<(bytes.count - 1)]
    guard !decimals.isEmpty, decimals.count <= 9, decimals.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return decimals.contains { $0 != 0x30 } ? seconds + 1 : seconds
  }

  private static func isAddress(_ bytes: UnsafeBufferPointer<UInt8>, https: Bool) -> Bool {
    for scheme in https ? ["https://"] : ["https://", "http://"] {
      guard bytes.count > scheme.utf8.count, zip(bytes, scheme.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 }) else {
        continue
      }
      let first = bytes[scheme.utf8.count]
      return first != 0x2F && first != 0x3F && first != 0x23 && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
    return false
  }

  private static func isOfLabel(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x2E, 0x7E, 0x25: true
    default: false
    }
  }

  private static func isReserved(_ name: JSONString) -> Bool {
    func starts(_ bytes: UnsafeBufferPointer<UInt8>, _ prefix: StaticString) -> Bool {
      bytes.count >= prefix.utf8CodeUnitCount
        && (0..<prefix.utf8CodeUnitCount).allSatisfy { bytes[$0] == prefix.utf8Start[$0] }
    }
    return name.equals("from") || name.equals("message_type")
      || name.withBytes { starts($0, "google") || starts($0, "gcm") }
  }

  private static func isWord(_ text: JSONString, _ word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount, !text.hasEscapes else { return false }
    return (0..<text.count).allSatisfy { index in
      let byte = text.start[index]
      return (byte &- 0x61 < 26 ? byte & 0xDF : byte) == word.utf8Start[index]
    }
  }

  private mutating func add(_ bytes: Int, to section: MessageSchema.Section) {
    switch section {
    case .none: break
    case .common: payload.common += bytes
    case .android: payload.android += bytes
    case .apns: payload.apns += bytes
    case .webpush: payload.webpush += bytes
    }
  }

  private var place: String { path.map { $0.description }.joined(separator: ".") }

  private func wrongType(_ type: String = "an object or list of the kind the API's reference gives") -> Refusal {
    .structure(place, "Invalid value at '\(place)' (\(type)).")
  }

  // MARK: - The cursor's errors as refusals

  private mutating func stringValue() throws(Refusal) -> JSONString {
    guard cursor.peek() == 0x22 else { throw wrongType("TYPE_STRING") }
    return try string()
  }

  private mutating func string() throws(Refusal) -> JSONString {
    try json { (cursor) throws(JSONFault) in try cursor.string() }
  }

  private mutating func take(_ byte: UInt8) throws(Refusal) {
    try json { (cursor) throws(JSONFault) in try cursor.take(byte) }
  }

  private mutating func scalar() throws(Refusal) -> UnsafeBufferPointer<UInt8> {
    try json { (cursor) throws(JSONFault) in try cursor.scalar() }
  }

  @inline(__always)
  private mutating func json<Result>(
    _ body: (inout JSONCursor) throws(JSONFault) -> Result
  ) throws(Refusal) -> Result {
    do throws(JSONFault) {
      return try body(&cursor)
    } catch {
      throw .json(error)
    }
  }
}
