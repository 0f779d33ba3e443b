/// A position on `nudge.banners`: the next offset of a partition. Clients receive it as the id of each event, and return it as
/// `Last-Event-ID`. It means the same on every instance.
struct LivePosition: Sendable, Equatable {
  var partition: Int32
  var next: Int64

  init(partition: Int32, next: Int64) {
    self.partition = partition
    self.next = next
  }

  /// Reads the form that `text` writes; nil for any other text.
  init?(_ text: String) {
    guard text.utf8.count <= 32, let cursor = RejectionLog.Cursor(text), let place = cursor.next.first,
      cursor.next.count == 1
    else { return nil }
    self.init(partition: place.key, next: place.value)
  }

  /// `3-1042`.
  var text: String { "\(partition)-\(next)" }
}
