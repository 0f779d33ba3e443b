import JSONCodec
import NudgeSchema
import ServiceKit
import WebPush

/// The message for a Web Push subscription, or for the app of a device with keys for sealing: the data that FCM's has, title, body and pictures, as one JSON object; what the push service
/// sees of it is its length.
///
/// A browser that knows Declarative Web Push asks the service worker, and shows the notification of the object where that shows none; for
/// others the object is the worker's data.
struct WebPushMessage: Sendable {
  /// Every push service takes this much, once it is sealed.
  static let longest = WebPushSealing.longestMessage
  /// For a service that finds that too long.
  static let shorter = 1_900
  /// The mark of a declarative message (W3C Push API): the number of the RFC.
  private static let declarativeMark = 8030

  private let content: DeviceMessage

  init(_ item: WaitingPush, rules: DispatcherRules) { content = DeviceMessage(item, rules: rules) }

  /// The JSON of at most this many bytes; nil where the ids alone are longer.
  func encoded(toBytes limit: Int = WebPushMessage.longest) -> [UInt8]? {
    func fitted(_ form: Form) -> (text: DeviceMessage.Text, bytes: [UInt8])? {
      content.fitted(toBytes: limit) {
        let bytes = write($0, form)
        return (bytes, bytes.count)
      }
    }
    // Ids in an address take up to six times their length.
    guard let (text, bytes) = fitted(.linked) ?? fitted(.plain) else { return nil }
    guard isDeclarative, text.title != nil else { return bytes }
    for form in [Form.mutable, .declarative] {
      let declarative = write(text, form)
      if declarative.count <= limit { return declarative }
    }
    return bytes
  }

  /// The parts that are written beside the data.
  private enum Form {
    case plain
    /// Also where a click leads.
    case linked
    /// Also the notification.
    case declarative
    /// Also the data within the notification: the browser asks its worker, which may get nothing else of the push.
    case mutable
  }

  /// A declarative notification must say where a click leads.
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
    // Pushes overtake each other: seconds alone would not say which of two messages came first.
    data.field("sentAt", String(content.sentAt))
    data.field("tag", content.collapseId)
    if content.isVisible, form != .plain { data.field("link", content.link) }
  }
}

/// The facts that a request to a push service has beside the message. An object: requests to FCM have none.
final class WebPushDelivery: Sendable {
  let subscription: WebPushSubscription
  /// How long the service may keep the push.
  let ttlSeconds: Int64
  let urgency: WebPushUrgency
  /// Takes the place of a push with the same topic that the service keeps: of a repeat, of the message that an edit or a deletion is of,
  /// of the former badge.
  let topic: String
  /// A shorter message, for a service that finds the first one too long; nil: there is none.
  let shorter: @Sendable () -> [UInt8]?

  /// nil: the push goes to no subscription. `now`: the wall clock.
  init?(_ item: WaitingPush, _ rules: DispatcherRules, now: Milliseconds) {
    guard let subscription = item.target.webPush else { return nil }
    self.subscription = subscription
    let content = DeviceMessage(item, rules: rules)
    ttlSeconds = max(0, (content.push.decidedAt + Int64(content.ttlSeconds) * 1_000 - now) / 1_000)
    urgency = content.isAlert ? .high : content.isVisible ? .normal : .low
    // The secret keeps services from recognising a message, or a conversation, at several subscriptions.
    topic = WebPushHeaders.topic(of: subscription.auth + "\u{1}" + content.collapseId)
    shorter = { WebPushMessage(item, rules: rules).encoded(toBytes: WebPushMessage.shorter) }
  }
}

/// Which push services are told apart, for queues, quotas and breakers, and in metrics. Their number is bounded, because the users of an
/// app choose the endpoints: services that are not known by name share some hundred places by a hash.
struct WebPushServices: Sendable {
  /// The word of metrics, spans and logs for a host that has no name of its own.
  static let other = "other"
  /// The services of browsers.
  private static let known = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "*.notify.windows.com",
  ]
  private static let places = (0..<256).map { "\(other)-\($0)" }

  /// Hosts that have a name: the known ones and those of the operator.
  let patterns: [String]
  private let rules: EndpointRules
  /// The origins of hosts that have a name.
  private let origins: [String]
  /// Keeps users from choosing a host that shares its place with another one.
  private let salt: UInt64

  /// - Parameter hosts: the operator's.
  init(hosts: [String] = [], salt: UInt64) {
    patterns = Self.known + hosts.filter { !Self.known.contains($0) }.prefix(32)
    rules = EndpointRules(hosts: patterns)
    origins = patterns.map { "https://\($0)" }
    self.salt = salt
  }

  /// The service of an endpoint: its origin where it is known, or a place that it may share with others.
  func service(of endpoint: String) -> String {
    var endpoint = endpoint
    return endpoint.withUTF8 { url in
      // Scheme, host and port as they are written, in lower case.
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
