import NudgeLab
import NudgeSchema

/// The acts of people with two devices while a log is written: who has the app open, on which device, and what they have read. It is the
/// same whatever they are notified of.
///
/// The log says when somebody wrote; the rest is drawn from a seed (docs/attention.md).
/// - Messages at most 10 minutes apart are one session, from 1 minute before the first until 1 minute after the last; two of three are
///   at the laptop, the others on the phone. The other device stays in the pocket, or shut.
/// - In each minute of a session the group is open, or something else in the app: always where the person writes, else by a coin.
/// - An open group is read as it is written, after 1 s. Half of what comes while something else is open is read after 1 to 15 s.
///   Opening the group reads all of it, and so does writing. Nothing is read outside of sessions.
struct AttentionScript {
  enum Event: Equatable {
    /// A message of the log, by its place.
    case message(Int)
    /// A device reports: the group is open, something else is, or the app is closed.
    case report(person: String, device: String, isForeground: Bool, isOpen: Bool)
    /// A person reads up to a message, by its place in the log; nil: everything.
    case read(person: String, device: String, upTo: Int?)
    /// Timers may be due.
    case tick
  }

  struct Entry: Equatable {
    var at: Milliseconds
    var event: Event
  }

  /// Times at which something that waits may end, after a message.
  static let waits: [Milliseconds] = [3_000, 8_000, 120_000]
  /// The minute of the day at which people catch up: 18:00 UTC.
  static let catchUp = 18 * 60
  static let day: Milliseconds = 86_400_000
  private static let minute: Milliseconds = 60_000

  private struct Session {
    var start: Milliseconds
    var end: Milliseconds
    var device: String
    /// Whether the group is open, minute by minute.
    var isOpen: [Bool]

    func isOpen(at time: Milliseconds) -> Bool? {
      guard start <= time, time < end else { return nil }
      return isOpen[Int((time - start) / AttentionScript.minute)]
    }
  }

  /// Everybody who writes, the first to do so first.
  private(set) var people: [String] = []
  /// In the order of time.
  private(set) var entries: [Entry] = []

  init(_ log: [ChatMessage], seed: UInt64) {
    var random = SeededRandom(seed: seed, log.first?.log ?? "")
    var times: [String: [Milliseconds]] = [:]
    for message in log {
      let person = ChatNames.user(message.nick)
      if times[person] == nil { people.append(person) }
      times[person, default: []].append(message.at)
    }
    var sessions: [String: [Session]] = [:]
    for person in people {
      sessions[person] = Self.sessions(times[person] ?? [], &random)
      for session in sessions[person] ?? [] { act(person, session) }
    }
    var speakers = LogSpeakers()
    for (place, message) in log.enumerated() {
      let sender = ChatNames.user(message.nick)
      entries.append(Entry(at: message.at, event: .message(place)))
      for wait in Self.waits { entries.append(Entry(at: message.at + wait, event: .tick)) }
      for person in speakers.recipients(of: sender) {
        // The same draws whoever is active.
        let (looks, seconds) = (random.chance(50), random.number(1...15))
        guard let session = sessions[person]?.first(where: { $0.start <= message.at && message.at < $0.end }),
          let isOpen = session.isOpen(at: message.at), isOpen || looks
        else { continue }
        entries.append(
          Entry(
            at: message.at + (isOpen ? 1_000 : Milliseconds(seconds) * 1_000),
            event: .read(person: person, device: session.device, upTo: place)))
      }
      speakers.wrote(message, sender)
    }
    if let first = log.first, let last = log.last {
      var time = Self.nextCatchUp(after: first.at)
      while time <= Self.nextCatchUp(after: last.at) {
        entries.append(Entry(at: time, event: .tick))
        time += Self.day
      }
    }
    // The first to be added comes first of one time.
    entries = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  static func nextCatchUp(after time: Milliseconds) -> Milliseconds {
    let today = time - time % day + Milliseconds(catchUp) * minute
    return today > time ? today : today + day
  }

  private static func sessions(_ times: [Milliseconds], _ random: inout SeededRandom) -> [Session] {
    var spans: [[Milliseconds]] = []
    for time in times {
      if let last = spans.last?.last, time - last <= 10 * minute {
        spans[spans.count - 1].append(time)
      } else {
        spans.append([time])
      }
    }
    return spans.map { times in
      let (start, end) = (times[0] - minute, times[times.count - 1] + minute)
      var isOpen = (0...Int((end - start) / minute)).map { _ in random.chance(50) }
      for time in times { isOpen[Int((time - start) / minute)] = true }
      return Session(start: start, end: end, device: random.number(1...3) < 3 ? "laptop" : "phone", isOpen: isOpen)
    }
  }

  private mutating func act(_ person: String, _ session: Session) {
    var wasOpen = false
    var time = session.start
    while time < session.end, let isOpen = session.isOpen(at: time) {
      entries.append(
        Entry(at: time, event: .report(person: person, device: session.device, isForeground: true, isOpen: isOpen)))
      if isOpen, !wasOpen {
        entries.append(Entry(at: time, event: .read(person: person, device: session.device, upTo: nil)))
      }
      wasOpen = isOpen
      time += Self.minute
    }
    entries.append(
      Entry(
        at: session.end, event: .report(person: person, device: session.device, isForeground: false, isOpen: false)))
  }
}
