import Foundation
import NudgeClient
import NudgeCommands
import NudgeSchema
import VirtualPhone

/// Virtual phones and their surroundings: publishes their events, passes on the emulator's deliveries and a gateway's banners, and fires
/// their timers. Not thread-safe.
final class PhoneFleet {
  /// Something a phone showed or did.
  struct Sight: Sendable {
    let phone: Int
    let at: Date
    let note: PhoneNote
  }

  /// The prefix of all tokens of these phones, which selects the emulator's deliveries.
  let tokenPrefix: String
  /// The phones by number.
  private(set) var phones: [VirtualPhone] = []
  /// Called with everything that the phones show or do.
  var onSight: (Sight) -> Void = { _ in }
  /// Called with each event that a phone publishes.
  var onPublish: (Int, ClientEvent) -> Void = { _, _ in }

  private let publisher: any PhonePublisher
  private let stream: EmulatorStream
  private let banners: (any BannerSource)?
  private let encoder = JSONEncoder()
  /// The phones' numbers, by token or endpoint.
  private var byAddress: [String: Int] = [:]
  private var byUser: [String: Set<Int>] = [:]
  /// The number of the publishing phone, by the id of each event without a result.
  private var publishing: [String: Int] = [:]
  /// The ids of the backend's events without a result.
  private var backendEvents: Set<String> = []
  private var installations = 0

  /// - Parameter banners: The gateway's banners. Absent without a gateway.
  init(
    tokenPrefix: String, publisher: any PhonePublisher, stream: EmulatorStream, banners: (any BannerSource)?
  ) {
    self.tokenPrefix = tokenPrefix
    self.publisher = publisher
    self.stream = stream
    self.banners = banners
    encoder.outputFormatting = .withoutEscapingSlashes
  }

  /// Closes publisher and streams.
  func close() {
    publisher.close()
    stream.close()
    banners?.close()
  }

  // MARK: Phones

  /// Adds a phone with a newly installed app. Returns its number.
  /// - Parameter pushService: The base URL of the push service that reaches the phone. Absent for a phone that FCM reaches.
  func add(
    deviceId: String, platform: Device.Platform, locale: String? = nil, renders: Bool = false,
    pushService: String? = nil
  ) -> Int {
    let number = phones.count
    let token = newToken(number)
    phones.append(
      VirtualPhone(
        device: Device(deviceId: deviceId, platform: platform, appVersion: "1.0.0", locale: locale, renders: renders),
        token: token, pushService: pushService,
        hasLiveChannel: banners != nil, answersBanners: banners is LiveFeed, makeId: { UUID().uuidString.lowercased() })
    )
    byAddress[phones[number].address] = number
    return number
  }

  /// Passes an input to a phone. `time` is the phone's own clock. Absent: now.
  func send(_ number: Int, _ input: PhoneInput, at time: Date? = nil) throws {
    let now = time ?? Date()
    let user = phones[number].userId
    let outputs = phones[number].take(input, at: now)
    if phones[number].userId != user { move(number, from: user) }
    for output in outputs { try carryOut(output, of: number, at: now) }
  }

  /// Removes and reinstalls a phone's app, for the same owner.
  func reinstall(_ number: Int) throws {
    let user = phones[number].userId
    let token = newToken(number)
    byAddress[phones[number].address] = nil
    try send(number, .reinstall(deviceId: "\(phones[number].device.deviceId)+\(installations)", token: token))
    byAddress[phones[number].address] = number
    if let user { try send(number, .signIn(userId: user)) }
  }

  private func newToken(_ number: Int) -> String {
    installations += 1
    return "\(tokenPrefix)\(number)-\(installations)"
  }

  private func move(_ number: Int, from user: String?) {
    if let user { byUser[user]?.remove(number) }
    if let user = phones[number].userId { byUser[user, default: []].insert(number) }
  }

  private func carryOut(_ output: PhoneOutput, of number: Int, at now: Date) throws {
    switch output {
    case .publish(let event):
      publishing[event.eventId] = number
      onPublish(number, event)
      publisher.publish(
        Array(try encoder.encode(event)), id: event.eventId, to: event.topic, key: event.key)
    case .cancel(let eventId):
      // The event was published, so its result no longer matters.
      publishing[eventId] = nil
    case .uninstalled(let token):
      byAddress[token] = nil
      byAddress[phones[number].address] = number
      try stream.uninstall(token: token)
    case .note(let note): onSight(Sight(phone: number, at: now, note: note))
    }
  }

  // MARK: The backend beside the phones

  /// Publishes an event of the backend, such as a conversation's members.
  func publish(_ event: ChatEvent) throws {
    backendEvents.insert(event.envelope.eventId)
    publisher.publish(
      try RecordCoder().encode(event), id: event.envelope.eventId, to: .chatEvents, key: event.body.conversationId)
  }

  /// The number of events without a result, of phones and of the backend.
  var openEvents: Int { publishing.count + backendEvents.count }

  // MARK: Time

  /// Processes results, deliveries, banners and timers, and waits at most the given time. Returns the number of processed items.
  /// - Throws: An error if the publisher or a stream has failed.
  @discardableResult
  func turn(waiting: Duration = .milliseconds(5)) throws -> Int {
    var count = 0
    for result in publisher.results(waiting: waiting) {
      count += 1
      if backendEvents.remove(result.eventId) != nil, let failure = result.failure {
        throw CommandError("an event of the backend could not be published: \(failure)")
      }
      guard let number = publishing.removeValue(forKey: result.eventId) else { continue }
      if let failure = result.failure {
        onSight(Sight(phone: number, at: Date(), note: .log("an event could not be published: \(failure)")))
      }
      try send(number, .published(eventId: result.eventId, succeeded: result.failure == nil))
    }
    for delivery in try stream.take() {
      count += 1
      guard let number = byAddress[delivery.message.token] else { continue }
      try send(number, .delivery(delivery.message, takenAt: delivery.takenAt))
    }
    for item in try banners?.take() ?? [] {
      count += 1
      switch item {
      case .banner(let banner):
        for number in byUser[banner.userId] ?? [] { try send(number, .banner(banner)) }
      case .notice(let notice):
        for number in byUser[notice.userId] ?? [] { try send(number, .notice(notice)) }
      // These phones learn of such changes by pushes, as apps without a stream do.
      case .badge, .read, .updated, .withdrawn: break
      }
    }
    let now = Date()
    for number in phones.indices {
      if let due = phones[number].nextWake, due <= now { try send(number, .time) }
    }
    return count
  }

  /// Processes until a condition holds. Returns false at the time-out.
  func turn(until condition: () throws -> Bool, within limit: Duration) throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
      guard ContinuousClock.now < deadline else { return false }
      try turn()
    }
    return true
  }
}

extension ClientEvent {
  var topic: Topic {
    switch body {
    case .messageCreated: .chatEvents
    case .messageRead, .feedbackSubmitted, .notification, .userActivity, .deviceRegistered, .deviceUnregistered,
      .preferencesUpdated:
      .userEvents
    }
  }

  /// The record's key on that topic: the id of the conversation or of the user.
  var key: String {
    switch body {
    case .messageCreated(let message): message.conversationId
    case .messageRead(let read): read.userId
    case .feedbackSubmitted(let feedback): feedback.userId
    case .notification(_, let notification): notification.userId
    case .userActivity(let activity): activity.userId
    case .deviceRegistered(let device): device.userId
    case .deviceUnregistered(let device): device.userId
    case .preferencesUpdated(let update): update.userId
    }
  }
}
