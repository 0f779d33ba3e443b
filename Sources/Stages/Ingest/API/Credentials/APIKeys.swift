import NudgeSchema
import ServiceKit

/// The API keys of a file. Each line has a name, blanks and the key; `#` begins a comment line. Two lines may have the same name.
///
/// Only digests are kept. A presented key's digest is compared with all of them, to the last byte, so timing reveals nothing.
struct APIKeys: Sendable {
  /// The shortest key in characters: 32 characters of base64 are 192 bits.
  static let shortest = 32
  /// The most keys with the same name. While a key is replaced, a backend has the old and the new one.
  static let keysOfAName = 2

  private let keys: [(name: String, digest: [UInt8])]

  /// Reads a file's content. No error contains a word of the file, because the name would be the secret if name and key were swapped.
  /// - Throws: `SettingsError`, which names the line and the fix.
  init(contents: [UInt8]) throws(SettingsError) {
    guard let text = String(validating: contents, as: UTF8.self) else { throw SettingsError("the file is not UTF-8") }
    var keys: [(line: Int, name: String, digest: [UInt8])] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let name = words.first, !name.hasPrefix("#") else { continue }
      guard words.count == 2 else {
        throw SettingsError("line \(index + 1): use NAME KEY, with blanks between and none within")
      }
      guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        throw SettingsError("line \(index + 1): the name has control characters; logs and metrics show it")
      }
      guard words[1].unicodeScalars.count >= Self.shortest else {
        throw SettingsError(
          "line \(index + 1): the key is too short; use NAME KEY with \(Self.shortest) characters or more for the key, such as "
            + "those of: openssl rand -base64 32")
      }
      guard words[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw SettingsError("line \(index + 1): the key has characters that no HTTP header carries; use ASCII")
      }
      let digest = Self.digest(words[1])
      if let other = keys.first(where: { $0.digest == digest }) {
        throw SettingsError("line \(index + 1): line \(other.line) has the same key; give each key a line")
      }
      let named = keys.filter { sameId($0.name, String(name)) }
      if named.count >= Self.keysOfAName {
        throw SettingsError(
          "line \(index + 1): line \(named[0].line) and others have the same name; a name has \(Self.keysOfAName) keys at most, the old and the "
            + "new one while it changes")
      }
      keys.append((index + 1, String(name), digest))
    }
    self.keys = keys.map { ($0.name, $0.digest) }
  }

  /// The number of keys.
  var count: Int { keys.count }

  /// The name of a presented key; nil for an unknown key.
  func name(of presented: Substring) -> String? {
    let digest = Self.digest(presented)
    var found: String?
    for key in keys where Self.isSame(key.digest, digest) { found = key.name }
    return found
  }

  private static func digest(_ key: Substring) -> [UInt8] { SHA256Digest.of(Array(key.utf8)) }

  private static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    var difference: UInt8 = a.count == b.count ? 0 : 1
    for (a, b) in zip(a, b) { difference |= a ^ b }
    return difference == 0
  }
}
