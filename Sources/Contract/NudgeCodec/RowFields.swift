/// A value that rows of state hold, or a row.
public protocol PackedValue {
  init(packed row: inout RowReader) throws(RowFormatError)
  func pack(into row: inout RowWriter)
}

/// A value that names each of its fields once, in one list, by which it is read and packed.
///
/// ```swift
/// mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
///   try row.flags()
///   try row.optional(&name)
///   try row.field(&memberCount)
/// }
/// ```
///
/// Bytes are in the order of the list. Fields that may be absent have a bit each in the flags, in the order of the list as well.
public protocol PackedFields: PackedValue {
  /// A value to read into.
  static var blank: Self { get }
  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure)
}

extension PackedFields {
  @inlinable
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self = .blank
    try read(from: &row)
  }

  /// Reads the fields of the list. The others stay.
  @inlinable
  public mutating func read(from row: inout RowReader) throws(RowFormatError) {
    let outer = row.given
    try fields(&row)
    row.given = outer
  }

  @inlinable
  public func pack(into row: inout RowWriter) {
    // Packing changes no field. The list has them `inout` because it is read by, too.
    var value = self
    var collector = FlagCollector(version: row.version)
    value.fields(&collector)
    let outer = row.given
    row.given = collector.collected
    value.fields(&row)
    row.given = outer
  }
}

/// Goes through a list of fields: reads them, packs them, or collects their flags.
public typealias RowCoder = RowCoding & ~Copyable

/// What `RowCoder` stands for.
public protocol RowCoding: ~Copyable {
  /// Packing does not fail.
  associatedtype Failure: Error
  /// Whether fields are read: then a list sets what depends on them.
  static var isReading: Bool { get }
  /// The row's version: a field of a later one is left out.
  var version: UInt8 { get }
  /// The flags of the list stand here, before the first field that has one.
  mutating func flags() throws(Failure)
  /// The next flag. Returns it as the row has it.
  mutating func flag(_ isSet: Bool) -> Bool
  /// A field that is always there.
  mutating func field<Form: PackedForm>(_ value: inout Form.Value, as form: Form) throws(Failure)
}

extension RowCoding where Self: ~Copyable {
  /// A field that is always there.
  @inlinable
  public mutating func field<Value: PackedValue>(_ value: inout Value) throws(Failure) {
    try field(&value, as: PlainForm())
  }

  /// A field whose flag is elsewhere.
  @inlinable
  public mutating func field<Value: PackedValue>(_ value: inout Value?, if isThere: Bool) throws(Failure) {
    try field(&value, as: OptionalForm(PlainForm(), isThere: isThere))
  }

  /// A field that may be absent.
  @inlinable
  public mutating func optional<Value: PackedValue>(_ value: inout Value?) throws(Failure) {
    try optional(&value, as: PlainForm())
  }

  /// A field that may be absent.
  @inlinable
  public mutating func optional<Form: PackedForm>(_ value: inout Form.Value?, as form: Form) throws(Failure) {
    let isThere = flag(value != nil)
    try field(&value, as: OptionalForm(form, isThere: isThere))
  }

  /// A list that has a flag unless it is empty.
  @inlinable
  public mutating func optional<Element: PackedValue>(_ list: inout [Element]) throws(Failure) {
    if flag(!list.isEmpty) { try field(&list) }
  }

  /// A field that is a flag.
  @inlinable
  public mutating func flag(_ isSet: inout Bool) { isSet = flag(isSet) }

  /// A field that is a flag, and absent where that is not set.
  @inlinable
  public mutating func mark(_ isSet: inout Bool?) { isSet = flag(isSet == true) ? true : nil }

  /// A field of two flags: the first says whether it is present, the second is its value.
  @inlinable
  public mutating func optionalFlag(_ isSet: inout Bool?) {
    isSet = flag(isSet != nil) ? flag(isSet == true) : nil
  }
}

/// A way to pack values of a type: another than the type's own, or of a type that has none.
public protocol PackedForm {
  associatedtype Value
  func read(from row: inout RowReader) throws(RowFormatError) -> Value
  func write(_ value: Value, into row: inout RowWriter)
}

/// A value's own form.
public struct PlainForm<Value: PackedValue>: PackedForm {
  @inlinable
  public init() {}

  @inlinable
  public func read(from row: inout RowReader) throws(RowFormatError) -> Value { try Value(packed: &row) }

  @inlinable
  public func write(_ value: Value, into row: inout RowWriter) { value.pack(into: &row) }
}

/// A value of that form, if it is present.
public struct OptionalForm<Form: PackedForm>: PackedForm {
  @usableFromInline let form: Form
  @usableFromInline let isThere: Bool

  @inlinable
  public init(_ form: Form, isThere: Bool) {
    self.form = form
    self.isThere = isThere
  }

  @inlinable
  public func read(from row: inout RowReader) throws(RowFormatError) -> Form.Value? {
    isThere ? try form.read(from: &row) : nil
  }

  @inlinable
  public func write(_ value: Form.Value?, into row: inout RowWriter) {
    if isThere, let value { form.write(value, into: &row) }
  }
}

/// Values of that form, with their number before them.
public struct ListForm<Form: PackedForm>: PackedForm {
  @usableFromInline let form: Form

  @inlinable
  public init(_ form: Form) { self.form = form }

  @inlinable
  public func read(from row: inout RowReader) throws(RowFormatError) -> [Form.Value] {
    let count = try row.count()
    var values: [Form.Value] = []
    if count > 0 { values.reserveCapacity(count) }
    for _ in 0..<count { values.append(try form.read(from: &row)) }
    return values
  }

  @inlinable
  public func write(_ values: [Form.Value], into row: inout RowWriter) {
    row.count(values.count)
    for value in values { form.write(value, into: &row) }
  }
}

/// A number of which every bit is as likely as any other: eight bytes.
public struct FixedForm<Value: FixedWidthInteger>: PackedForm {
  @inlinable
  public init() {}

  @inlinable
  public func read(from row: inout RowReader) throws(RowFormatError) -> Value {
    Value(truncatingIfNeeded: try row.fixed())
  }

  @inlinable
  public func write(_ value: Value, into row: inout RowWriter) { row.fixed(UInt64(truncatingIfNeeded: value)) }
}

/// Bytes as they are.
public struct BytesForm: PackedForm {
  @inlinable
  public init() {}

  @inlinable
  public func read(from row: inout RowReader) throws(RowFormatError) -> [UInt8] { try row.blob() }

  @inlinable
  public func write(_ value: [UInt8], into row: inout RowWriter) { row.blob(value) }
}

extension RowReader: RowCoding {
  @inlinable
  public static var isReading: Bool { true }

  @inlinable
  public mutating func flags() throws(RowFormatError) { given = RowFlags(bits: try unsigned()) }

  @inlinable
  public mutating func flag(_: Bool) -> Bool { given.take() }

  @inlinable
  public mutating func field<Form: PackedForm>(_ value: inout Form.Value, as form: Form) throws(RowFormatError) {
    value = try form.read(from: &self)
  }
}

extension RowWriter: RowCoding {
  @inlinable
  public static var isReading: Bool { false }

  @inlinable
  public mutating func flags() { unsigned(given.bits) }

  @inlinable
  public mutating func flag(_ isSet: Bool) -> Bool { isSet }

  @inlinable
  public mutating func field<Form: PackedForm>(_ value: inout Form.Value, as form: Form) {
    form.write(value, into: &self)
  }
}

/// Collects the flags of a list before it is packed: they stand before the fields.
public struct FlagCollector: RowCoding {
  @inlinable
  public static var isReading: Bool { false }

  public let version: UInt8
  /// The flags so far.
  public var collected = RowFlags()

  @inlinable
  public init(version: UInt8) { self.version = version }

  @inlinable
  public mutating func flags() {}

  @inlinable
  public mutating func flag(_ isSet: Bool) -> Bool {
    collected.add(isSet)
    return isSet
  }

  @inlinable
  public mutating func field<Form: PackedForm>(_ value: inout Form.Value, as form: Form) {}
}

/// The fields that a row has, one bit each: the lowest for the first field.
public struct RowFlags {
  public var bits: UInt64
  @usableFromInline var next: UInt64 = 1

  @inlinable
  public init(bits: UInt64 = 0) { self.bits = bits }

  /// Adds the next field's.
  @inlinable
  public mutating func add(_ isSet: Bool) {
    if isSet { bits |= next }
    next <<= 1
  }

  /// The next field's.
  @inlinable
  public mutating func take() -> Bool {
    defer { next <<= 1 }
    return bits & next != 0
  }
}
