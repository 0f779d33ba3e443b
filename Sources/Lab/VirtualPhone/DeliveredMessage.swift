internal import Foundation
public import NudgeClient

/// A message that FCM accepted, as its device receives it: the parts of a `messages:send` that the system presents, and the data for the
/// app.
public struct DeliveredMessage: Sendable, Equatable {
  /// The system of the device, by the platform block of the message.
  public enum Platform: String, Sendable, Codable {
    /// iOS, by APNs.
    case ios
    case android
    /// A browser, by Web Push.
    case web
  }

  /// A notification that the system presents without the app.
  public struct Visible: Sendable, Equatable {
    /// The first line.
    public var title: String
    public var body: String
    /// Whether it shows a picture.
    public var hasPicture: Bool
    /// Whether it comes with a banner and a sound. Else it is only in the list.
    public var isAlert: Bool
    /// A later notification with the same tag replaces this one.
    public var tag: String
    /// The conversation that the system groups by.
    public var thread: String
  }

  /// The effect of the message, by FCM's `data`.
  public enum Content: Sendable, Equatable {
    /// The system presents a notification.
    case visible(Visible)
    /// The number on the icon changes.
    case badge
    /// A conversation was read elsewhere: the app removes the notifications that the mark covers.
    case read(ReadMark)
    /// A message was deleted: the app removes its notification.
    case deleted(messageId: String, conversationId: String)
  }

  public var token: String
  /// The device's system.
  public var platform: Platform
  /// The user the push is for.
  public var recipientId: String
  /// The push's id.
  public var pushId: String
  /// The number for the app's badge. Absent if the push has none.
  public var badge: Int?
  /// The effect of the message.
  public var content: Content
  /// FCM's `data`.
  public var data: [String: String]
  /// Whether the message has a notification, whatever its data says.
  public var hasNotification: Bool
  /// The id by which APNs and browsers' services keep only the last push for a device that is off. Absent: they keep every push.
  public var collapseId: String?
  /// The key by which FCM keeps only the last push for an Android device that is off. Absent: FCM keeps every push.
  public var collapseKey: String?
  /// How long FCM stores the push for a device that is off.
  var keeping: Keeping

  /// How long FCM stores a push for a device that is off.
  enum Keeping: Sendable, Equatable {
    /// Until a time in seconds since the epoch (APNs).
    case until(Int64)
    /// For this many seconds after FCM accepted it.
    case seconds(Int64)
    /// For FCM's maximum of four weeks.
    case longest
  }

  /// FCM's maximum time to live in seconds.
  private static let longestTTL: Int64 = 2_419_200

  /// When FCM discards a push that it accepted at `takenAt` and could not deliver, in milliseconds since the epoch.
  public func keptUntil(takenAt: Int64) -> Int64 {
    switch keeping {
    case .until(let second): second * 1_000
    case .seconds(let seconds): takenAt + seconds * 1_000
    case .longest: takenAt + Self.longestTTL * 1_000
    }
  }

  /// Decodes the body of a request that was answered with 200. Fails without the data that Nudge puts into each push.
  public init?(body: some Collection<UInt8>) {
    guard let request = try? JSONDecoder().decode(Request.self, from: Data(body)) else { return nil }
    self.init(request)
  }

  private init?(_ request: Request) {
    let message = request.message
    guard let data = message.data, let recipientId = data["recipientId"], let pushId = data["pushId"] else {
      return nil
    }
    token = message.token
    self.data = data
    hasNotification = message.notification != nil
    self.recipientId = recipientId
    self.pushId = pushId
    badge = data["badge"].flatMap { Int($0) }
    platform = message.apns != nil ? .ios : message.webpush != nil ? .web : .android
    let tag =
      message.apns?.headers?["apns-collapse-id"] ?? message.android?.notification?.tag
      ?? message.webpush?.notification?.tag
    collapseId = tag ?? message.android?.collapseKey ?? message.webpush?.headers?["Topic"]
    collapseKey = message.android?.collapseKey
    let expiration = message.apns?.headers?["apns-expiration"].flatMap { Int64($0) }
    let lifetime =
      message.android?.ttl.flatMap { Int64($0.dropLast()) } ?? message.webpush?.headers?["TTL"].flatMap { Int64($0) }
    keeping = expiration.map { .until($0) } ?? lifetime.map { .seconds($0) } ?? .longest
    switch data["type"] {
    case "read":
      content = .read(
        ReadMark(
          conversationId: data["conversationId"] ?? "", messageId: data["messageId"],
          time: data["timestamp"].flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0) }))
    case "deleted": content = .deleted(messageId: data["messageId"] ?? "", conversationId: data["conversationId"] ?? "")
    default:
      guard let notification = message.notification else {
        content = Self.drawn(data).map { .visible($0) } ?? .badge
        return
      }
      let isAlert =
        switch platform {
        case .ios: message.apns?.payload?.aps?.sound != nil
        case .android: message.android?.notification?.sound != nil
        case .web: message.webpush?.notification?.silent != true
        }
      content = .visible(
        Visible(
          title: notification.title ?? "", body: notification.body ?? "",
          hasPicture: notification.image != nil || message.apns?.fcmOptions?.image != nil, isAlert: isAlert,
          tag: tag ?? pushId, thread: message.apns?.payload?.aps?.threadId ?? data["conversationId"] ?? ""))
    }
  }

  /// The notification that an app draws from data alone.
  private static func drawn(_ data: [String: String]) -> Visible? {
    guard data["title"] != nil || data["body"] != nil, data["presentation"] != "badge" else { return nil }
    let conversationId = data["conversationId"] ?? ""
    return Visible(
      title: data["title"] ?? "", body: data["body"] ?? "", hasPicture: data["imageUrl"] != nil,
      isAlert: data["presentation"] == "alert",
      tag: data["messageId"].map { NotificationId.message($0, in: conversationId) } ?? data["pushId"] ?? "",
      thread: conversationId)
  }

  fileprivate struct Request: Decodable {
    let message: Message
  }

  fileprivate struct Message: Decodable {
    struct Notification: Decodable {
      let title: String?
      let body: String?
      let image: String?
    }
    struct Android: Decodable {
      struct Shown: Decodable {
        let tag: String?
        let sound: String?
      }
      let notification: Shown?
      let collapseKey: String?
      let ttl: String?
      enum CodingKeys: String, CodingKey {
        case notification, ttl
        case collapseKey = "collapse_key"
      }
    }
    struct APNs: Decodable {
      struct Payload: Decodable { let aps: Aps? }
      struct Aps: Decodable {
        let sound: String?
        let threadId: String?
        enum CodingKeys: String, CodingKey {
          case sound
          case threadId = "thread-id"
        }
      }
      struct Options: Decodable { let image: String? }
      let headers: [String: String]?
      let payload: Payload?
      let fcmOptions: Options?
      enum CodingKeys: String, CodingKey {
        case headers, payload
        case fcmOptions = "fcm_options"
      }
    }
    struct WebPush: Decodable {
      struct Shown: Decodable {
        let tag: String?
        let silent: Bool?
      }
      let notification: Shown?
      let headers: [String: String]?
    }

    let token: String
    let data: [String: String]?
    let notification: Notification?
    let android: Android?
    let apns: APNs?
    let webpush: WebPush?
  }
}

extension DeliveredMessage: Decodable {
  /// Decodes a `messages:send` inside other JSON.
  /// - Throws: `DecodingError` without the data that Nudge puts into each push.
  public init(from decoder: any Decoder) throws {
    guard let message = DeliveredMessage(try Request(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the message is not a push of Nudge's"))
    }
    self = message
  }
}
