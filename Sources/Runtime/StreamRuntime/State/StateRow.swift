import Foundation
public import NudgeSchema

/// A row of a stage's state, of at most `StateLimits.maxRowBytes` encoded. It stays decoded in memory while it is in use.
public protocol StateRow: Sendable {
  /// Decodes a row that `encoded` wrote.
  /// - Throws: Any error. It ends the thread, and never makes the record a dead letter.
  init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws
  /// The row's bytes at a level. Equal values have equal bytes on every machine.
  func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8]
}

/// Limits of state.
public enum StateLimits {
  /// The largest encoded row in bytes. A transaction writes whole rows, so small rows keep it in proportion to what changed.
  public static let maxRowBytes = 16 * 1024
}

/// The key of a row. Keys are compared by their bytes, so that ids which Unicode treats as equal stay different.
public struct RowKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The key's bytes, in the changelog and in the store.
  public let bytes: [UInt8]

  /// Makes a key from the bytes of another key.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// Makes a key of a kind and ids, joined by NUL, which no id contains. Keys that begin with the same parts are adjacent in the store, so
  /// that `Step.rows(below:)` reads them together.
  @inlinable
  public init(_ parts: String...) {
    // The function is inlined, so that the array of the parts needs no allocation.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(parts.count) { $0 + $1.utf8.count })
    for (index, part) in parts.enumerated() {
      if index > 0 { bytes.append(0) }
      bytes.append(contentsOf: part.utf8)
    }
    self.bytes = bytes
  }

  /// Makes a key of a kind and an id without an array of the parts, because steps make several keys for each record.
  public init(_ kind: String, _ id: String) {
    // Writes in place, because each append would check capacity and uniqueness.
    bytes = [UInt8](unsafeUninitializedCapacity: kind.utf8.count + 1 + id.utf8.count) { buffer, count in
      Self.append(kind, to: buffer, &count)
      Self.append(0, to: buffer, &count)
      Self.append(id, to: buffer, &count)
    }
  }

  /// Makes a key of a kind and two ids without an array of the parts.
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

  /// The parts of which the key was made.
  public var parts: [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The key of all parts but the last. Absent for a key of one part.
  public var parent: RowKey? {
    bytes.lastIndex(of: 0).map { RowKey(bytes: Array(bytes[..<$0])) }
  }

  /// Whether the key begins with all parts of `prefix` and has more parts.
  public func isBelow(_ prefix: RowKey) -> Bool {
    bytes.count > prefix.bytes.count && bytes[prefix.bytes.count] == 0 && bytes.starts(with: prefix.bytes)
  }

  /// Hashes all bytes at once. An array would hash them one by one.
  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// Compares all bytes at once.
  public static func == (a: RowKey, b: RowKey) -> Bool {
    a.bytes.count == b.bytes.count && a.compared(with: b, count: a.bytes.count) == 0
  }

  /// Compares by bytes, which is the order of the store.
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

  /// The parts, separated by slashes, for people.
  public var description: String { parts.joined(separator: "/") }
}

/// A failure to read or write the store or the changelog, or to decode a row. It ends the thread, and the process exits with 70.
public struct StoreFailure: Error, CustomStringConvertible {
  /// The operation that failed.
  public var operation: String
  /// The cause, with the file and, if there is one, the remedy.
  public var reason: String

  /// Makes a failure.
  public init(operation: String, reason: String) {
    self.operation = operation
    self.reason = reason
  }

  public var description: String { "state store: \(operation): \(reason)" }
}
