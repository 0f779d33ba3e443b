public import NudgeCodec
import NudgeSchema

/// The shifts of a person's scores that feedback and behaviour have made: for each sender, for each conversation, and for all messages
/// together.
///
/// A shift is added to the log-odds of a score. A signal changes the shift more if the score predicted the signal less. Numbers are whole
/// thousandths, so that every machine learns the same.
public struct LearnedPreferences: Encodable, Sendable, Equatable {
  /// The most senders and conversations, which keeps the row within 1 kB. The one with the smallest shift is removed first.
  static let maxEntries = 48
  /// The most that all shifts together add, in thousandths of log-odds. With this bound, a message that is clearly not for the person stays
  /// low, and one that mentions them stays high.
  static let bound = 4_000
  /// The share of a shift that remains after a day, in 65,536ths. Half remains after 30 days.
  private static let dailyPart = 64_040

  /// The subject of a shift. The raw value is its kind in the row.
  enum Subject: Int, Encodable, Sendable, CaseIterable {
    case person
    case sender
    case conversation

    /// The largest shift, in thousandths of log-odds.
    var bound: Int { traits.bound }
    /// The share of a signal's step that it receives, in thousandths.
    var rate: Int { traits.rate }
    /// The signal's name in decisions.
    var name: String { traits.name }

    private var traits: (name: String, bound: Int, rate: Int) {
      switch self {
      case .person: ("learned_person", 1_000, 250)
      case .sender: ("learned_sender", 3_000, 1_000)
      case .conversation: ("learned_conversation", 2_000, 500)
      }
    }
  }

  /// The shift of one subject.
  struct Entry: Encodable, Sendable, Equatable {
    var subject: Subject
    /// The subject's `MessageKey`; 0 for the person.
    var key: Int64
    /// The shift at `at`, in thousandths of log-odds.
    var shift: Int
    /// The time of the last signal.
    var at: Milliseconds

    // Encoded as an array, because a row has many of them.
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.unkeyedContainer()
      try fields.encode(subject)
      try fields.encode(key)
      try fields.encode(shift)
      try fields.encode(at)
    }

    /// The remaining shift at a time. An earlier time counts as that of the last signal.
    func shift(at time: Milliseconds) -> Int {
      let days = max(0, time - at) / 86_400_000
      guard days < 400 else { return 0 }
      var left = shift
      for _ in 0..<days { left = left * LearnedPreferences.dailyPart / 65_536 }
      return left
    }
  }

  private(set) var entries: [Entry] = []

  /// Learns from a signal about a message.
  ///
  /// - Parameters:
  ///   - score: The message's score in thousandths.
  ///   - sender: `MessageKey` of the sender.
  ///   - conversation: `MessageKey` of the conversation.
  mutating func learn(_ signal: FeedbackSignal, score: Int, sender: Int64, conversation: Int64, at time: Milliseconds) {
    let news = (signal.isPositive ? 1_000 : 0) - min(1_000, max(0, score))
    let step = signal.step * news / 1_000
    guard step != 0 else { return }
    for (subject, key) in [(Subject.person, 0), (.sender, sender), (.conversation, conversation)] {
      let index = entries.firstIndex { $0.subject == subject && $0.key == key }
      let before = index.map { entries[$0].shift(at: time) } ?? 0
      let shift = min(subject.bound, max(-subject.bound, before + step * subject.rate / 1_000))
      if let index {
        entries[index].shift = shift
        entries[index].at = max(entries[index].at, time)
      } else {
        entries.append(Entry(subject: subject, key: key, shift: shift, at: time))
      }
    }
    while entries.count > Self.maxEntries, let least = entries.indices.min(by: { weaker($0, $1, at: time) }) {
      entries.remove(at: least)
    }
  }

  private func weaker(_ a: Int, _ b: Int, at time: Milliseconds) -> Bool {
    (abs(entries[a].shift(at: time)), entries[a].key) < (abs(entries[b].shift(at: time)), entries[b].key)
  }

  /// Removes what was learned up to a time.
  mutating func forget(upTo time: Milliseconds) { entries.removeAll { $0.at <= time } }

  /// The shifts of a message, in thousandths of log-odds. The strongest subject is first, and subjects without a shift are left out.
  func shifts(sender: Int64, conversation: Int64, at time: Milliseconds) -> [(name: String, shift: Int)] {
    var left = Self.bound
    var shifts: [(name: String, shift: Int)] = []
    for (subject, key) in [(Subject.sender, sender), (.conversation, conversation), (.person, 0)] {
      guard let entry = entries.first(where: { $0.subject == subject && $0.key == key }) else { continue }
      // Keeps the sum within the bound of all shifts.
      let shift = max(-left, min(left, entry.shift(at: time)))
      left -= abs(shift)
      if shift != 0 { shifts.append((subject.name, shift)) }
    }
    return shifts
  }
}

extension LearnedPreferences: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "learned"
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) { try row.field(&entries) }
}

extension LearnedPreferences.Subject: PackedChoice {}

extension LearnedPreferences.Entry: PackedFields {
  static var blank: Self { Self(subject: .person, key: 0, shift: 0, at: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&subject)
    try row.field(&key, as: FixedForm())
    try row.field(&shift)
    try row.field(&at)
  }
}

/// A person's reaction to a message that notified them.
enum FeedbackSignal: Sendable {
  /// They judged the notification as helpful or not helpful.
  case helpful, notHelpful
  /// They answered within minutes.
  case replied
  /// They opened the notification.
  case opened
  /// They read the conversation within minutes.
  case read
  /// They dismissed the notification.
  case dismissed
  /// They did not react, and many messages followed.
  case ignored

  /// Whether it means that the message mattered.
  var isPositive: Bool {
    switch self {
    case .helpful, .replied, .opened, .read: true
    case .notHelpful, .dismissed, .ignored: false
    }
  }

  /// The step for a sender if the opposite was certain, in thousandths of log-odds.
  var step: Int {
    switch self {
    case .helpful, .notHelpful: 1_200
    case .replied: 600
    case .opened, .dismissed: 400
    case .read: 200
    case .ignored: 100
    }
  }
}

/// A person's last word on whether notifications of a conversation help: a verdict, or the fact that they wrote there afterwards.
struct LastWord: Encodable, Equatable {
  /// When they gave it, in milliseconds since 1970.
  var at: Milliseconds
  /// Whether it did not help.
  var isUnhelpful: Bool
}

/// A number: the time, or its complement.
extension LastWord: PackedValue {
  init(packed row: inout RowReader) throws(RowFormatError) {
    let time = try row.signed()
    self.init(at: time < 0 ? ~time : time, isUnhelpful: time >= 0)
  }

  func pack(into row: inout RowWriter) { row.signed(isUnhelpful ? at : ~at) }
}
