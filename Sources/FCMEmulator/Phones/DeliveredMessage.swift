internal import Foundation

/// What a device does with a message that FCM has taken: the parts of a `messages:send` that can be seen or heard.
struct DeliveredMessage: Sendable, Equatable {
  /// The system of the device, told by the block that the message has for it.
  enum Platform: String, Sendable, Encodable {
    case ios, android, web
  }

  /// What the system shows by itself.
  struct Visible: Sendable, Equatable {
    var title: String
    var body: String
    /// A picture is shown with it.
    var hasPicture: Bool
    /// With a sound and on top of the screen; else only in the list.
    var isAlert: Bool
    /// A notification with the same one is replaced.
    var tag: String
    /// What it is grouped by.
    var thread: String
  }

  /// What it is about, by FCM's `data`.
  enum Content: Sendable, Equatable {
    /// Something to be seen.
    case visible(Visible)
    /// Only the number on the icon.
    case badge
    /// A conversation was read elsewhere: the app removes its notifications.
    case read(conversationId: String)
    /// A message was taken back: the app removes its notification.
    case deleted(messageId: String)
  }

  var token: String
  var platform: Platform
  var recipientId: String
  var pushId: String
  var badge: Int?
  var content: Content

  /// From the body of a request that was answered with 200. Nil where it has none of the data that Nudge puts into each push.
  init?(body: some Collection<UInt8>) {
    guard let request = try? JSONDecoder().decode(Request.self, from: Data(body)) else { return nil }
    let message = request.message
    guard let data = message.data, let recipientId = data["recipientId"], let pushId = data["pushId"] else {
      return nil
    }
    token = message.token
    self.recipientId = recipientId
    self.pushId = pushId
    badge = data["badge"].flatMap { Int($0) }
    platform = message.apns != nil ? .ios : message.webpush != nil ? .web : .android
    switch data["type"] {
    case "read": content = .read(conversationId: data["conversationId"] ?? "")
    case "deleted": content = .deleted(messageId: data["messageId"] ?? "")
    default:
      guard let notification = message.notification else {
        content = .badge
        return
      }
      let tag =
        message.apns?.headers?["apns-collapse-id"] ?? message.android?.notification?.tag
        ?? message.webpush?.notification?.tag ?? pushId
      let isAlert =
        switch platform {
        case .ios: message.apns?.payload?.aps?.sound != nil
        case .android: message.android?.notification?.sound != nil
        case .web: message.webpush?.notification?.silent != true
        }
      content = .visible(
        Visible(
          title: notification.title ?? "", body: notification.body ?? "",
          hasPicture: notification.image != nil || message.apns?.fcmOptions?.image != nil, isAlert: isAlert, tag: tag,
          thread: message.apns?.payload?.aps?.threadId ?? data["conversationId"] ?? ""))
    }
  }

  private struct Request: Decodable {
    let message: Message
  }

  private struct Message: Decodable {
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
    }

    let token: String
    let data: [String: String]?
    let notification: Notification?
    let android: Android?
    let apns: APNs?
    let webpush: WebPush?
  }
}
