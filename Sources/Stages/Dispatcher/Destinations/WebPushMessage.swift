import NudgeSchema
import ServiceKit
import WebPush

/// The message for a Web Push subscription, or for the app of a device with encryption keys: the data of an FCM message, title, body and
/// pictures, as one JSON object. The push service sees only its length.
///
/// A browser with Declarative Web Push asks the service worker, and shows the object's notification if the worker shows none. For other
/// browsers the object is the worker's data.
struct WebPushMessage: Sendable {
  /// The size that every push service accepts once it is encrypted.
  static let longest = WebPushSealing.longestMessage
  /// The size for a service that finds `longest` too long.
  static let shorter = 1_900
  /// The mark of a declarative message (W3C Push API), which is an RFC's number.
  private static let declarativeMark = 8030

  private let content: DeviceMessage

  init(_ item: WaitingPush, rules: DispatcherRules) { content = DeviceMessage(item, rules: rules) }

  /// The JSON with at most this many bytes; nil if the ids alone are longer.
  func encoded(toBytes limit: Int = WebPushMessage.longest) -> [UInt8]? {
    func fitted(_ form: Form) -> (text: DeviceMessage.Text, bytes: [UInt8])? {
      content.fitted(toBytes: limit) {
        let bytes = write($0, form)
        return (bytes, bytes.count)
      }
    }
    // Ids in a URL take up to six times their length.
    guard let (text, bytes) = fitted(.linked) ?? fitted(.plain) else { return nil }
    guard isDeclarative, text.title != nil else { return bytes }
    for form in [Form.mutable, .declarative] {
      let declarative = write(text, form)
      if declarative.count <= limit { return declarative }
    }
    return bytes
  }

  /// The parts that are written besides the data.
  private enum Form {
    case plain
    /// Also where a click leads.
    case linked
    /// Also the notification.
    case declarative
    /// Also the data within the notification, because the browser passes nothing else of the push to its worker.
    case mutable
  }

  /// Whether it can be declarative: a declarative notification must say where a click leads.
  private var isDeclarative: Bool {
    content.target.webPush != nil && content.isVisible && content.target.platform != .android && content.link != nil
  }

  private func write(_ text: DeviceMessage.Text, _ form: Form) -> [UInt8] {
    var writer = PayloadWriter()
    writer.object { root in
      if form == .declarative || form == .mutable {
        root.field("web_push", Self.declarativeMark)
        root.object("notification") {
          $0.field("title", text.title)
          $0.field("body", text.body)
          $0.field("navigate", content.link)
          $0.field("tag", content.collapseId)
          $0.field("lang", content.push.language)
          $0.field("icon", text.avatarUrl)
          $0.field("image", text.imageUrl)
          $0.field("silent", !content.isAlert)
          if form == .mutable { $0.object("data") { writeData(text, form, to: &$0) } }
        }
        root.field("app_badge", max(content.push.badge, 0))
        if form == .mutable { root.field("mutable", true) }
      }
      writeData(text, form, to: &root)
    }
    return writer.bytes
  }

  /// Writes what a worker needs into an open object.
  private func writeData(_ text: DeviceMessage.Text, _ form: Form, to data: inout PayloadWriter) {
    content.writeData(text, to: &data)
    // Pushes overtake each other, and seconds alone would not order two messages.
    data.field("sentAt", String(content.sentAt))
    data.field("tag", content.collapseId)
    if content.isVisible, form != .plain { data.field("link", content.link) }
  }
}

/// What a request to a push service needs besides the message. It is an object, because requests to FCM have none.
final class WebPushDelivery: Sendable {
  let subscription: WebPushSubscription
  /// How long the service may store the push.
  let ttlSeconds: Int64
  let urgency: WebPushUrgency
  /// The push replaces a stored push with the same topic: its own repeat, the message that it edits or deletes, or the former badge.
  let topic: String
  /// A shorter message, for a service that finds the first one too long; nil if there is none.
  let shorter: @Sendable () -> [UInt8]?

  /// Nil if the push goes to no subscription. `now` is on the wall clock.
  init?(_ item: WaitingPush, _ rules: DispatcherRules, now: Milliseconds) {
    guard let subscription = item.target.webPush else { return nil }
    self.subscription = subscription
    let content = DeviceMessage(item, rules: rules)
    ttlSeconds = max(0, (content.push.decidedAt + Int64(content.ttlSeconds) * 1_000 - now) / 1_000)
    urgency = content.isAlert ? .high : content.isVisible ? .normal : .low
    // The secret keeps services from recognising a message or conversation across subscriptions.
    topic = WebPushHeaders.topic(of: subscription.auth + "\u{1}" + content.collapseId)
    shorter = { WebPushMessage(item, rules: rules).encoded(toBytes: WebPushMessage.shorter) }
  }
}

/// Distinguishes push services for queues, quotas, breakers and metrics. The number is bounded, because the users of an app choose the
/// endpoints: services without a known name share some hundred slots by a hash.
struct WebPushServices: Sendable {
  /// The name in metrics, spans and logs of hosts without a name of their own.
  static let other = "other"
  /// The services of browsers.
  private static let known = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "*.notify.windows.com",
  ]
  private static let places = (0..<256).map { "\(other)-\($0)" }

  /// Hosts with a name: the known ones and the operator's.
  let patterns: [String]
  private let rules: EndpointRules
  /// The origins of hosts with a name.
  private let origins: [String]
  /// Keeps users from choosing a host that shares a slot with a certain other one.
  private let salt: UInt64

  /// - Parameter hosts: The operator's hosts.
  init(hosts: [String] = [], salt: UInt64) {
    patterns = Self.known + hosts.filter { !Self.known.contains($0) }.prefix(32)
    rules = EndpointRules(hosts: patterns)
    origins = patterns.map { "https://\($0)" }
    self.salt = salt
  }

  /// The service of an endpoint: its origin if it is known, otherwise a slot that it may share.
  func service(of endpoint: String) -> String {
    var endpoint = endpoint
    return endpoint.withUTF8 { url in
      // Scheme, host and port as written, in lower case.
      var (slashes, end) = (0, 0)
      var hash = FNV1a(seed: salt)
      while end < url.count {
        let byte = url[end]
        if byte == 0x2F { slashes += 1 }
        if slashes == 3 || slashes == 2 && byte == 0x3F { break }
        hash.combine(ASCII.lowercased(byte))
        end += 1
      }
      let origin = UnsafeBufferPointer(rebasing: url[..<end])
      if let known = origins.first(where: { Self.isSame($0, origin) }) { return known }
      return Self.places[Int(hash.spread % UInt64(Self.places.count))]
    }
  }

  private static func isSame(_ known: String, _ origin: UnsafeBufferPointer<UInt8>) -> Bool {
    guard known.utf8.count == origin.count else { return false }
    for (one, other) in zip(known.utf8, origin) where one != ASCII.lowercased(other) { return false }
    return true
  }

  /// The name of a host in metrics, spans and logs.
  func label(ofHost host: String) -> String {
    rules.pattern(of: host) ?? Self.other
  }
}

/// Where pushes to subscriptions may go.
struct WebPushRules: Sendable {
  var endpoints: EndpointRules
  var services: WebPushServices
}
