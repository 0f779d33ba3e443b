import Foundation
import Synchronization
import VirtualPhone

/// The phones that have received pushes. The emulator's thread writes; the page's server reads and waits.
final class PhoneBoard: Sendable {
  /// The most phones that the board shows. It only counts further ones.
  static let capacity = 2_000

  /// The changes after a version, for the page.
  struct Changes: Encodable {
    struct View: Encodable {
      let number: Int
      let platform: DeliveredMessage.Platform
      let appDraws: Bool
      let owner: String
      let badge: Int
      let pushes: Int
      let sounds: Int
      let silentPushes: Int
      let badgePushes: Int
      let removals: Int
      let dropped: Int
      let entries: [LockScreen.Entry]
    }
    /// The version to ask with next.
    let version: Int
    /// All pushes so far.
    let pushes: Int
    /// All phones so far, including those that the board does not show.
    let phoneCount: Int
    /// The phones that changed.
    let phones: [View]
  }

  private struct State {
    var phones: [String: Phone] = [:]
    var version = 0
    var unkept: Set<Int> = []
    /// Readers, each with the version after which it waits for a change.
    var readers = WaitingReaders<Int, Changes>()
  }

  private let state = Mutex(State())

  /// A push has arrived on a device.
  func deliver(_ message: DeliveredMessage, at now: Int64) {
    let answers = state.withLock { state in
      state.version += 1
      if state.phones[message.token] != nil || state.phones.count < Self.capacity {
        var phone =
          state.phones.removeValue(forKey: message.token) ?? Phone(number: state.phones.count + 1, for: message)
        phone.receive(message, at: now, version: state.version)
        state.phones[message.token] = phone
      } else {
        state.unkept.insert(message.token.hashValue)
      }
      return state.readers.take { _ in true }.map { ($0, Self.changes(state, after: $0.question)) }
    }
    for (reader, changes) in answers { reader.answer(changes) }
  }

  /// The phone with this number on the page, and the token or endpoint that reaches it. Absent if there is no such phone.
  func phone(_ number: Int) -> (phone: Phone, address: String)? {
    state.withLock { state in state.phones.first { $0.value.number == number }.map { ($0.value, $0.key) } }
  }

  /// Answers with the changes after a version, as soon as there are any. Returns the id for `giveUp`.
  func wait(after version: Int, _ answer: @escaping @Sendable (Changes) -> Void) -> Int {
    let (id, changes) = state.withLock { state in
      let id = state.readers.nextId()
      guard state.version <= version else { return (id, Optional(Self.changes(state, after: version))) }
      state.readers.add(id, version, answer)
      return (id, nil)
    }
    if let changes { answer(changes) }
    return id
  }

  /// Answers a reader that still waits, without changes.
  func giveUp(_ id: Int) {
    let given = state.withLock { state in state.readers.take(id).map { ($0, Self.changes(state, after: $0.question)) } }
    if let (reader, changes) = given { reader.answer(changes) }
  }

  private static func changes(_ state: State, after version: Int) -> Changes {
    Changes(
      version: state.version, pushes: state.version, phoneCount: state.phones.count + state.unkept.count,
      phones: state.phones.values.filter { $0.version > version }.sorted { $0.number < $1.number }.map {
        Changes.View(
          number: $0.number, platform: $0.platform, appDraws: $0.appDraws, owner: $0.owner, badge: $0.badge,
          pushes: $0.pushes,
          sounds: $0.sounds, silentPushes: $0.silentPushes, badgePushes: $0.badgePushes, removals: $0.removals,
          dropped: $0.dropped, entries: $0.lockScreen.entries)
      })
  }
}

/// A device as its owner sees it: the lock screen and the number on the icon.
struct Phone: Sendable {
  /// The phone's number on the page, from 1, in the order of their first pushes.
  let number: Int
  private(set) var platform: DeliveredMessage.Platform
  /// Whether the app draws its notifications from data alone. Else the system draws them.
  private(set) var appDraws = false
  /// The user whom the last push was for.
  private(set) var owner: String
  private(set) var badge = 0
  private(set) var lockScreen = LockScreen()
  /// The number of pushes that have arrived.
  private(set) var pushes = 0
  /// How many of them were presented as alerts, with a sound.
  private(set) var sounds = 0
  /// How many of them were presented silently.
  private(set) var silentPushes = 0
  /// How many of them the system did not show, because it already showed its maximum for the app.
  private(set) var dropped = 0
  /// How many of them changed only the badge.
  private(set) var badgePushes = 0
  /// How many of them removed something from the screen or changed nothing visible: reads and deletions.
  private(set) var removals = 0
  /// The version of the page at the last change.
  private(set) var version = 0

  init(number: Int, for message: DeliveredMessage) {
    self.number = number
    platform = message.platform
    owner = message.recipientId
  }

  mutating func receive(_ message: DeliveredMessage, at now: Int64, version: Int) {
    self.version = version
    pushes += 1
    platform = message.platform
    if message.recipientId != owner {
      // The push is for another account: the former user's notifications were removed at sign-out (C6).
      owner = message.recipientId
      lockScreen.clear()
    }
    badge = message.badge ?? badge
    switch message.content {
    case .badge: badgePushes += 1
    case .read(let mark):
      removals += 1
      lockScreen.remove(mark)
    case .deleted(let messageId, let conversationId):
      removals += 1
      lockScreen.remove(messageId: messageId, in: conversationId)
    case .visible(let visible):
      appDraws = !message.hasNotification
      if platform == .android, lockScreen.isFull(for: visible.tag) {
        dropped += 1
        return
      }
      if visible.isAlert { sounds += 1 } else { silentPushes += 1 }
      lockScreen.show(LockScreen.Entry(visible, of: message, at: now))
    }
  }
}

/// A file with records of `nudge.decisions`, one JSON object a line, to which another process appends.
struct DecisionFile: Sendable {
  let path: String

  /// The last decision that made this push, as written in the file. Absent while the file has none.
  func decision(ofPush pushId: String) throws -> [UInt8]? {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    // Decoding all lines would take seconds, so lines are first searched for the id's JSON text.
    guard let quoted = try? JSONEncoder().encode(pushId) else { return nil }
    var end = data.endIndex
    while let found = data.range(of: quoted, options: .backwards, in: data.startIndex..<end) {
      let start = data[..<found.lowerBound].lastIndex(of: 0x0A).map { $0 + 1 } ?? data.startIndex
      let stop = data[found.upperBound...].firstIndex(of: 0x0A) ?? data.endIndex
      let line = data[start..<stop]
      if let made = try? JSONDecoder().decode(Made.self, from: line), made.pushId == pushId { return Array(line) }
      end = start
    }
    return nil
  }

  private struct Made: Decodable {
    let pushId: String?
  }
}
