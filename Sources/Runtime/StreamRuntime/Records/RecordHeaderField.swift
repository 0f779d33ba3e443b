public struct RecordHeaderField: Sendable, Equatable {
  public var name: String
  public var value: [UInt8]

  public init(_ name: String, _ value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// A header with a text.
  public init(_ name: String, _ value: String) { self.init(name, Array(value.utf8)) }

  /// The largest size on the wire, in bytes: name, value and two lengths of up to 5 bytes.
  var size: Int { name.utf8.count + value.count + 10 }
}
