extension ChatEventBody {
  mutating func normalize(_ ignored: inout IgnoredFields) {
    switch self {
    case .conversationUpdated(var fields):
      fields.name.normalize(.name, "name", &ignored) { $0.fittingName }
      fields.members.normalize(at: "", &ignored)
      self = .conversationUpdated(fields)
    case .memberAdded(var fields):
      fields.normalize(&ignored)
      self = .memberAdded(fields)
    case .memberRemoved(var fields):
      fields.normalize(&ignored)
      self = .memberRemoved(fields)
    case .messageCreated(var fields):
      fields.normalize(&ignored)
      self = .messageCreated(fields)
    case .messageEdited, .messageDeleted, .conversationDeleted: break
    }
  }
}

extension UserEventBody {
  mutating func normalize(_ ignored: inout IgnoredFields) {
    switch self {
    case .deviceRegistered(var fields):
      fields.appVersion.normalize(.appVersion, "appVersion", &ignored) { $0.fittingAppVersion }
      fields.locale.normalize(.locale, "locale", &ignored) { $0.fittingLocale }
      self = .deviceRegistered(fields)
    case .preferences(var fields):
      fields.preferences.locale.normalize(.locale, "preferences.locale", &ignored) { $0.fittingLocale }
      self = .preferences(fields)
    case .activity, .read, .deviceUnregistered, .feedback, .notificationReceived, .notificationOpened,
      .notificationDismissed, .deleted:
      break
    }
  }
}

extension MembershipChange {
  fileprivate mutating func normalize(_ ignored: inout IgnoredFields) {
    displayName.normalize(.name, "displayName", &ignored) { $0.fittingName }
    avatarUrl.normalize(.avatarUrl, "avatarUrl", &ignored) { $0.fittingURL }
  }
}

extension MessageCreated {
  fileprivate mutating func normalize(_ ignored: inout IgnoredFields) {
    for index in attachments?.indices ?? 0..<0 {
      // Read first: the array is copied only where a URL does not fit.
      guard let url = attachments?[index].url, url.fittingURL == nil else { continue }
      attachments?[index].url = nil
      ignored.add(.attachmentUrl, "attachments[\(index)].url")
    }
    if sender != nil {
      sender?.displayName.normalize(.name, "sender.displayName", &ignored) { $0.fittingName }
      sender?.avatarUrl.normalize(.avatarUrl, "sender.avatarUrl", &ignored) { $0.fittingURL }
    }
    if conversation != nil {
      conversation?.name.normalize(.name, "conversation.name", &ignored) { $0.fittingName }
      conversation?.members.normalize(at: "conversation.", &ignored)
    }
  }
}

extension [Member] {
  /// A member whose name cannot be used is shown by their user id.
  fileprivate mutating func normalize(at path: String, _ ignored: inout IgnoredFields) {
    for index in indices {
      // Read first: the array is copied only where something does not fit.
      if !(1...SchemaLimits.nameCharacters).contains(self[index].displayName.utf8.count) {
        if let name = self[index].displayName.fittingName {
          self[index].displayName = name
        } else {
          ignored.add(.name, "\(path)members[\(index)].displayName")
          self[index].displayName = self[index].userId
        }
      }
      if let url = self[index].avatarUrl, url.fittingURL == nil {
        self[index].avatarUrl = nil
        ignored.add(.avatarUrl, "\(path)members[\(index)].avatarUrl")
      }
    }
  }
}

extension String? {
  /// Makes the value fit. A value that cannot fit is removed and counted in `ignored`.
  fileprivate mutating func normalize(
    _ kind: CosmeticField, _ path: @autoclosure () -> String, _ ignored: inout IgnoredFields,
    by fitting: (String) -> String?
  ) {
    guard let value = self else { return }
    self = fitting(value)
    if self == nil { ignored.add(kind, path()) }
  }
}

extension String {
  /// The name, cut to its limit; nil if it is empty.
  fileprivate var fittingName: String? {
    if utf8.isEmpty { return nil }
    return utf8.count <= SchemaLimits.nameCharacters ? self : prefix(scalars: SchemaLimits.nameCharacters)
  }

  /// The URL; nil if it is empty, too long or has control characters.
  fileprivate var fittingURL: String? {
    (1...SchemaLimits.urlBytes).contains(utf8.count) && !FieldRule.hasControlCharacters(self) ? self : nil
  }

  /// The version without control characters, cut to its limit; nil if nothing remains.
  fileprivate var fittingAppVersion: String? {
    let printed = FieldRule.hasControlCharacters(self) ? withoutControlCharacters : self
    if printed.utf8.isEmpty { return nil }
    return printed.utf8.count <= SchemaLimits.appVersionCharacters
      ? printed : printed.prefix(scalars: SchemaLimits.appVersionCharacters)
  }

  /// The locale as a language tag (BCP 47). It accepts tags and the forms of ICU, Java, POSIX and `Accept-Language`:
  /// `zh_CN_#Hans` becomes `zh-Hans-CN`; `en_US.UTF-8` and `en_US@rg=dezzzz` become `en-US`. nil if it names no
  /// language, such as `C` or `POSIX`.
  fileprivate var fittingLocale: String? {
    if isLanguageTag { return utf8.elementsEqual("POSIX".utf8) ? nil : self }
    let ends = [UInt8]("@.,; \t\r\n".utf8)
    let written = utf8.drop { ends.contains($0) }.prefix { !ends.contains($0) }
    var subtags = written.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }.map { Array($0) }
    guard let language = subtags.first, Self.isLanguage(language), language != [UInt8]("POSIX".utf8) else {
      return nil
    }
    // Java writes the script last, after a #.
    if let script = subtags.firstIndex(where: { $0.first == UInt8(ascii: "#") }) {
      let name = subtags.remove(at: script).dropFirst()
      subtags.insert(Array(name), at: 1)
    }
    var tag = language
    for subtag in subtags.dropFirst().prefix(while: { Self.isSubtag($0) })
    where tag.count + 1 + subtag.count <= SchemaLimits.localeBytes {
      tag += [UInt8(ascii: "-")] + subtag
    }
    return String(decoding: tag, as: UTF8.self)
  }

  /// Whether the text looks like a BCP 47 tag (`de-CH`). `_` counts as `-`, because Apple's and Java's locales have it.
  private var isLanguageTag: Bool {
    guard utf8.count <= SchemaLimits.localeBytes else { return false }
    let subtags = utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    guard let language = subtags.first, Self.isLanguage(language) else { return false }
    return subtags.dropFirst().allSatisfy { Self.isSubtag($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

  private static func isLanguage(_ subtag: some Collection<UInt8>) -> Bool {
    (2...8).contains(subtag.count) && subtag.allSatisfy(isLetter)
  }

  private static func isSubtag(_ subtag: some Collection<UInt8>) -> Bool {
    (1...8).contains(subtag.count)
      && subtag.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private var withoutControlCharacters: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }

  private func prefix(scalars: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(scalars))) }
}

/// A field that only changes how something looks. An unusable value does not refuse the event: it is made to fit or
/// ignored.
public enum CosmeticField: String, Sendable, CaseIterable {
  /// The language of a device or person.
  case locale
  /// The app's version.
  case appVersion
  /// The name of a person or group.
  case name
  /// The URL of a person's picture.
  case avatarUrl
  /// The URL of an attachment.
  case attachmentUrl
}

/// The cosmetic fields of an event that were ignored, by their paths. Values are not kept (T4).
public struct IgnoredFields: Sendable, Equatable, CustomStringConvertible {
  /// The most paths that are kept, because a conversation may have thousands of unusable names.
  public static let maxPaths = 8

  /// The first `maxPaths` paths, e.g. `conversation.members[3].avatarUrl`.
  public private(set) var paths: [String] = []
  /// The kinds of the ignored fields.
  public private(set) var kinds: Set<CosmeticField> = []
  /// How many fields were ignored.
  public private(set) var count = 0

  /// None.
  public init() {}

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  mutating func add(_ kind: CosmeticField, _ path: String) {
    count += 1
    kinds.insert(kind)
    if paths.count < Self.maxPaths { paths.append(path) }
  }

  /// The paths, and how many more there are: `locale, appVersion`.
  public var description: String {
    let more = count - paths.count
    return paths.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }
}
