import Foundation
import NudgeSchema

/// The requirement on catch-ups, without its implementation. It knows every message, and finds local times by looking at each minute.
struct CatchUpOracle {
  struct Message {
    let id: String
    let conversation: String
    let at: Milliseconds
    var text: String
    /// As it was sent.
    let sentText: String
    /// It waits for the catch-up.
    var isHeld = false
    var isRead = false
    /// A push shows it.
    var isPushed = false
    /// Its text was changed after its push was made: only an edit has the last one.
    var isOutdated = false
    /// A catch-up has told of it.
    var isTold = false
    /// More messages of the conversation waited with it than texts are kept of: it may be counted without its line.
    var mayLackText = false
    /// Its push was missed once: what says so again is a repeat.
    var wasMissed = false

    var canBeMissed: Bool { isPushed && !isRead && !isTold && !wasMissed }
    /// A push shows its text, and no catch-up will.
    var isUnreadPush: Bool { isPushed && !isHeld && !isRead }
  }

  /// The content of a catch-up.
  struct Told: Equatable, CustomStringConvertible {
    var ids: Set<String>
    var texts: [String: String]
    /// How many of the texts are surely kept.
    var kept = 0
    var description: String { ids.sorted().joined(separator: " ") }
  }

  var quiet: QuietHours?
  var times: [String]?
  var timeZone: String?
  var isEnabled = true
  /// Conversations that are muted, and until when.
  var mutes: [String: Milliseconds?] = [:]
  var hasDevice = true
  private(set) var messages: [Message] = []
  private(set) var due: Milliseconds?
  /// The time came, and there was no device.
  private var waitsForDevice = false

  private func minute(_ time: Milliseconds, _ zone: String?) -> Int {
    let zone = zone.flatMap { Self.zones[$0] } ?? TimeZones.utc
    let seconds = time / 1_000
    return Int((seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))) / 60 % 1_440)
  }

  private static let zones: [String: TimeZone] = Dictionary(
    uniqueKeysWithValues: ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"].compactMap { name in
      TimeZone(identifier: name).map { (name, $0) }
    })

  private func minute(of text: String) -> Int { Int(text.prefix(2))! * 60 + Int(text.suffix(2))! }

  func isQuiet(_ time: Milliseconds) -> Bool {
    guard let quiet else { return false }
    let (start, end, now) = (minute(of: quiet.start), minute(of: quiet.end), minute(time, quiet.timeZone ?? timeZone))
    return start <= end ? start <= now && now < end : now >= start || now < end
  }

  private var catchesUp: Bool { times.map { !$0.isEmpty } ?? (quiet != nil) }

  /// The first minute after a time at which the person catches up.
  private func next(after time: Milliseconds) -> Milliseconds? {
    guard catchesUp else { return nil }
    let wanted = times.map { Set($0.map(minute(of:))) } ?? [minute(of: quiet!.end)]
    let zone = times == nil ? quiet?.timeZone ?? timeZone : timeZone ?? quiet?.timeZone
    var at = time - time % 60_000 + 60_000
    while !wanted.contains(minute(at, zone)) { at += 60_000 }
    while isQuiet(at) { at += 60_000 }
    return at
  }

  /// A message comes. `isWanted`: it would be shown; else it would only change the badge. `isUrgent`: also in quiet hours.
  mutating func message(
    _ id: String, in conversation: String, at time: Milliseconds, _ text: String, isWanted: Bool, isUrgent: Bool
  ) {
    var message = Message(id: id, conversation: conversation, at: time, text: text, sentText: text)
    let mute = mutes[conversation]
    let isMuted = mute.map { $0.map { time < $0 } ?? true } ?? false
    let isShown = !isMuted && isWanted && (isUrgent || !isQuiet(time)) && hasDevice
    let ends = !isMuted || mute.flatMap { $0 } != nil
    if isEnabled, !isShown, ends, catchesUp, isWanted || times != nil, due != nil || !waitsForDevice {
      message.isHeld = true
      if due == nil { due = next(after: time) }
    }
    message.isPushed = isEnabled && isShown
    messages.append(message)
    countTexts(of: conversation)
  }

  /// Texts of six messages of a conversation are kept at a time.
  private mutating func countTexts(of conversation: String) {
    let held = messages.indices.filter { messages[$0].isHeld && messages[$0].conversation == conversation }
    if held.count > 6 { for index in held { messages[index].mayLackText = true } }
  }

  mutating func read(_ conversation: String, upTo time: Milliseconds) {
    for index in messages.indices where messages[index].conversation == conversation && messages[index].at <= time {
      messages[index].isHeld = false
      messages[index].isRead = true
    }
  }

  /// No device got the push of a message in time.
  mutating func missed(_ id: String, at time: Milliseconds, after collection: Milliseconds) {
    guard isEnabled, times?.isEmpty != true,
      let index = messages.firstIndex(where: { $0.id == id && $0.canBeMissed })
    else { return }
    messages[index].isHeld = true
    messages[index].wasMissed = true
    countTexts(of: messages[index].conversation)
    if due == nil, waitsForDevice { return }
    var late = time + collection
    if times != nil {
      late = next(after: time) ?? late
    } else if isQuiet(late) {
      late += 60_000 - late % 60_000
      while isQuiet(late) { late += 60_000 }
    }
    due = min(due ?? late, late)
  }

  /// A message with a push, shown on no device as far as is known here.
  func somePushed(_ number: Int) -> Message? {
    let pushed = messages.filter(\.isPushed).suffix(12)
    return pushed.isEmpty ? nil : pushed[pushed.startIndex + number % pushed.count]
  }

  mutating func delete(_ id: String) { messages.removeAll { $0.id == id } }

  mutating func edit(_ id: String, _ text: String) {
    for index in messages.indices where messages[index].id == id {
      messages[index].text = text
      if messages[index].isUnreadPush { messages[index].isOutdated = true }
    }
  }

  /// Quiet hours, times or the zone changed. Where it was quiet, and is not any more, what waits for the end is told now.
  mutating func preferencesChanged(at time: Milliseconds, wasQuiet: Bool) {
    guard due != nil else { return }
    due = wasQuiet && !isQuiet(time) && times == nil ? time : next(after: time) ?? time
  }

  mutating func gained(at time: Milliseconds) {
    hasDevice = true
    if waitsForDevice {
      waitsForDevice = false
      due = time
    }
  }

  /// Timers fire. Returns what the catch-up tells of; nil: there is none.
  mutating func passed(_ time: Milliseconds) -> Told? {
    guard let at = due, at <= time else { return nil }
    due = nil
    let isWanted = isEnabled && times?.isEmpty != true
    if isWanted, isQuiet(time) {
      var end = time - time % 60_000 + 60_000
      while isQuiet(end) { end += 60_000 }
      due = end
      return nil
    }
    if isWanted, !hasDevice {
      waitsForDevice = true
      return nil
    }
    var told = Told(ids: [], texts: [:])
    for index in messages.indices where messages[index].isHeld {
      let message = messages[index]
      let mute = isWanted ? mutes[message.conversation] : nil
      if case .some(.some(let until)) = mute, time < until {
        if due == nil { due = next(after: time) ?? time + 86_400_000 }
        continue
      }
      messages[index].isHeld = false
      if !isWanted || mute.map({ $0 == nil }) ?? false { continue }
      messages[index].isTold = true
      told.ids.insert(message.id)
      if !message.isOutdated {
        told.texts[message.id] = message.text
        if !message.mayLackText { told.kept += 1 }
      }
    }
    return told.ids.isEmpty ? nil : told
  }

  var heldCount: Int { messages.count { $0.isHeld } }

  func someMessage(_ number: Int) -> Message? {
    messages.isEmpty ? nil : messages[max(0, messages.count - 1 - number % 8)]
  }
}
