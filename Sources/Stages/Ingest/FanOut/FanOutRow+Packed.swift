public import NudgeCodec

extension FanOutRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "fan-out"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let event = try row.text()
    var headers: [Header] = []
    for _ in 0..<(try row.count()) { headers.append(Header(name: try row.text(), value: try row.blob())) }
    self.init(event: event, headers: headers)
    if flags.take() { after = try row.text() }
    nextIndex = try row.signed32()
    for _ in 0..<(try row.count()) { passedOver.append(try row.text()) }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(after != nil)
    row.unsigned(flags.bits)
    row.text(event)
    row.count(headers.count)
    for header in headers {
      row.text(header.name)
      row.blob(header.value)
    }
    if let after { row.text(after) }
    row.signed(Int64(nextIndex))
    row.count(passedOver.count)
    for person in passedOver { row.text(person) }
  }
}
