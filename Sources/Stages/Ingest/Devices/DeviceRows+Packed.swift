public import NudgeCodec
import NudgeSchema

extension RegistrationRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "device"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    tokenHash = flags.take() ? try row.text() : nil
    stamp = try row.stamp()
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(tokenHash != nil)
    row.unsigned(flags.bits)
    if let tokenHash { row.text(tokenHash) }
    row.stamp(stamp)
  }
}

extension OwnerRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "owner"
  /// Version 2 has the timer.
  public static var versions: RowVersions { RowVersions(2) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    owner = flags.take() ? Owner(userId: try row.text(), deviceId: try row.text()) : nil
    let hasTimer = flags.take()
    stamp = try row.stamp()
    version = try row.signed()
    timerAt = hasTimer ? try row.signed() : nil
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(owner != nil)
    flags.add(timerAt != nil)
    row.unsigned(flags.bits)
    if let owner {
      row.text(owner.userId)
      row.text(owner.deviceId)
    }
    row.stamp(stamp)
    row.signed(version)
    if let timerAt { row.signed(timerAt) }
  }
}
