internal import Foundation

/// What a device does with a message that FCM has taken: the parts of a `messages:send` that can be seen or heard, and the
/// data for the app.
public struct DeliveredMessage: Sendable, Equatable {
  /// The system of the device, told by the block that the message has for it.
  public enum Platform: String, Sendable, Codable {
    /// iOS, through APNs.
    case ios
    /// Android.
    case android
    /// A browser, through Web Push.
    case web
  }

  /// What the system shows by itself.
  public struct Visible: Sendable, Equatable {
    /// The first line.
    public var title: String
    /// The text.
    public var body: String
    /// A picture is shown with it.
    public var hasPicture: Bool
    /// With a sound and on top of the screen; else only in the list.
    public var isAlert: Bool
    /// A notification with the same one is replaced.
    public var tag: String
    /// What it is grouped by.
    public var thread: String
  }

  /// What it is about, by FCM's `data`.
  public enum Content: Sendable, Equatable {
    /// Something to be seen.
    case visible(Visible)
    /// Only the number on the icon.
    case badge
    /// A conversation was read elsewhere: the app removes its notifications.
    case read(conversationId: String)
    /// A message was taken back: the app removes its notification.
    case deleted(messageId: String)
  }

  /// The device's registration token.
  public var token: String
  /// What the device runs.
  public var platform: Platform
  /// Whom it is for.
  public var recipientId: String
  /// The push.
  public var pushId: String
  /// What the app's badge is to show, if the push says so.
  public var badge: Int?
  /// What it is about.
  public var content: Content
  /// FCM's `data`.
  public var data: [String: String]
  /// Whether it has a notification that the system shows by itself, whatever the data says.
  public var hasNotification: Bool
  /// Of pushes with the same one that wait for a device that is off only the last is kept; nil: each is.
  public var collapseId: String?
  /// How long FCM keeps it for a device that is off.
  var keeping: Keeping

  /// How long FCM keeps a push for a device that is off.
  enum Keeping: Sendable, Equatable {
    /// Until a time, in seconds since the epoch (APNs).
    case until(Int64)
    /// So many seconds from when FCM took it.
    case seconds(Int64)
    /// FCM's own limit: four weeks.
    case longest
  }

  /// FCM's longest time to live, in seconds.
  private static let longestTTL: Int64 = 2_419_200

  /// Until when FCM keeps it for a device that is off, in milliseconds since the epoch, if it took it at `takenAt`. With
  /// nothing to keep it for, it reaches only a device that is on.
  public func keptUntil(takenAt: Int64) -> Int64 {
    switch keeping {
    case .until(let second): second * 1_000
    case .seconds(let seconds): takenAt + seconds * 1_000
    case .longest: takenAt + Self.longestTTL * 1_000
    }
  }

  /// From the body of a request that was answered with 200. Nil where it has none of the data that Nudge puts into each push.
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
    collapseId = tag ?? message.android?.collapseKey
    let expiration = message.apns?.headers?["apns-expiration"].flatMap { Int64($0) }
    let lifetime =
      message.android?.ttl.flatMap { Int64($0.dropLast()) } ?? message.webpush?.headers?["TTL"].flatMap { Int64($0) }
    keeping = expiration.map { .until($0) } ?? lifetime.map { .seconds($0) } ?? .longest
    switch data["type"] {
    case "read": content = .read(conversationId: data["conversationId"] ?? "")
    case "deleted": content = .deleted(messageId: data["messageId"] ?? "")
    default:
      guard let notification = message.notification else {
        content = .badge
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
  /// From a `messages:send` inside other JSON. Throws where it has none of the data that Nudge puts into each push.
  public init(from decoder: any Decoder) throws {
    guard let message = DeliveredMessage(try Request(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "the message is no push of Nudge's"))
    }
    self = message
  }
}
