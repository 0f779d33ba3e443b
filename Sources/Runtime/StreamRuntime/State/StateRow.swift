import Foundation
public import NudgeSchema

/// A row of a stage's state, of at most `StateLimits.maxRowBytes` encoded. It stays decoded in memory while it is in use.
public protocol StateRow: Sendable {
  /// Reads a row that `encoded` wrote.
  /// - Throws: any error ends the thread; it is never a dead letter.
  init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws
  /// The row's bytes as they are written at a level. Equal values have equal bytes on every machine.
  func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8]
}

/// Bounds on state.
public enum StateLimits {
  /// The largest encoded row, in bytes. With small rows the changelog grows with the changes, not with the state.
  public static let maxRowBytes = 16 * 1024
}

/// The key of a row, compared by its bytes: ids that Unicode treats as equal stay different.
public struct RowKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The bytes, in the changelog and in the store.
  public let bytes: [UInt8]

  /// A key of these bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// A key of a kind and ids, joined by NUL (ids have no control characters). Keys with the same first parts are neighbours in the
  /// store: `Step.rows(below:)` finds them.
  @inlinable
  public init(_ parts: String...) {
    // Inlined, so that the array of the parts needs no memory of its own.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(parts.count) { $0 + $1.utf8.count })
    for (index, part) in parts.enumerated() {
      if index > 0 { bytes.append(0) }
      bytes.append(contentsOf: part.utf8)
    }
    self.bytes = bytes
  }

  /// The same, without an array of the parts: steps make several keys a record.
  public init(_ kind: String, _ id: String) {
    // Writes in place: each append would check capacity and uniqueness.
    bytes = [UInt8](unsafeUninitializedCapacity: kind.utf8.count + 1 + id.utf8.count) { buffer, count in
      Self.append(kind, to: buffer, &count)
      Self.append(0, to: buffer, &count)
      Self.append(id, to: buffer, &count)
    }
  }

  /// As above.
  public init(_ kind: String, _ id: String, _ second: String) {
    bytes = [UInt8](unsafeUninitializedCapacity: kind.utf8.count + 2 + id.utf8.count + second.utf8.count) {
      buffer, count in
      Self.append(kind, to: buffer, &count)
      Self.append(0, to: buffer, &count)
      Self.append(id, to: buffer, &count)
      Self.append(0, to: buffer, &count)
      Self.append(second, to: buffer, &count)
    }
  }

  private static func append(_ part: String, to buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) {
    count = buffer[count...].initialize(fromContentsOf: part.utf8)
  }

  private static func append(_ byte: UInt8, to buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) {
    buffer.initializeElement(at: count, to: byte)
    count += 1
  }

  /// The parts the key was made of.
  public var parts: [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The key of all parts but the last; nil for a key of one part.
  public var parent: RowKey? {
    bytes.lastIndex(of: 0).map { RowKey(bytes: Array(bytes[..<$0])) }
  }

  /// Whether the key has all parts of `prefix` at its beginning, and more.
  public func isBelow(_ prefix: RowKey) -> Bool {
    bytes.count > prefix.bytes.count && bytes[prefix.bytes.count] == 0 && bytes.starts(with: prefix.bytes)
  }

  /// By bytes, all at once: an array hashes and compares them one by one.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// By bytes.
  public static func == (a: RowKey, b: RowKey) -> Bool {
    a.bytes.count == b.bytes.count && a.compared(with: b, count: a.bytes.count) == 0
  }

  /// By bytes: the order of the store.
  public static func < (a: RowKey, b: RowKey) -> Bool {
    let order = a.compared(with: b, count: min(a.bytes.count, b.bytes.count))
    return order == 0 ? a.bytes.count < b.bytes.count : order < 0
  }

  private func compared(with other: RowKey, count: Int) -> Int32 {
    bytes.withUnsafeBytes { own in
      other.bytes.withUnsafeBytes { others in
        guard count > 0, let a = own.baseAddress, let b = others.baseAddress, a != b else { return 0 }
        return memcmp(a, b, count)
      }
    }
  }

  /// The parts, for people.
  public var description: String { parts.joined(separator: "/") }
}

/// The store or the changelog could not be read or written, or a row not decoded. It ends the thread, and the process exits with 70.
public struct StoreFailure: Error, CustomStringConvertible {
  /// The operation that failed.
  public var operation: String
  /// Why it failed, with the file and, where there is one, the fix.
  public var reason: String

  /// A failure.
  public init(operation: String, reason: String) {
    self.operation = operation
    self.reason = reason
  }

  public var description: String { "state store: \(operation): \(reason)" }
}
