/// The fields of a `messages:send` request, as in FCM's reference of the v1 API.
///
/// The tables are constant and need no reference counting, because each request looks up about twenty names.
struct MessageSchema: @unchecked Sendable {
  /// The type of a field's value.
  enum Kind {
    case string
    /// An absolute http or https address of a picture.
    case picture
    /// An absolute https address.
    case link
    /// A label of FCM's statistics: 1 to 50 of `[a-zA-Z0-9-_.~%]`.
    case label
    case bool
    case integer
    case number
    /// A word of an enumeration, in upper or lower case.
    case word
    /// `"3.5s"`, at least zero.
    case duration
    /// `"3.5s"`, 0–2,419,200 s.
    case timeToLive
    case strings
    case durations
    /// Names and strings.
    case map(Map)
    case object(Object)
    /// A list of any values or any object.
    case any
  }
  /// The names and values that a map may have.
  enum Map { case data, headers, apnsHeaders }
  enum Object: Int {
    case request, message, notification, options, android, androidNotification, lightSettings, color, webpush
    case webpushOptions, apns, apnsOptions
  }
  /// The payload that a field counts towards.
  enum Section: Int { case none, common, android, apns, webpush }
  /// The fields of which a message has exactly one.
  enum Target { case none, token, topic, condition }

  struct Field {
    let name: StaticString
    let kind: Kind
    var section = Section.none
    var target = Target.none
    /// The permitted words of a `.word`.
    var words: [StaticString] = []
  }

  // Unchecked Sendable: `init` allocates and fills it; nothing changes or frees it afterwards.
  private let fields: UnsafeMutableBufferPointer<UnsafeMutableBufferPointer<Field>>

  static let shared = MessageSchema()

  /// The field of a name, and its number. The name may be in snake_case or lowerCamelCase, as protocol buffers' JSON mapping allows.
  func field(_ name: JSONString, of object: Object) -> (index: Int, field: UnsafePointer<Field>)? {
    let list = fields[object.rawValue]
    guard let base = list.baseAddress else { return nil }
    for index in 0..<list.count where name.equals(base[index].name) { return (index, UnsafePointer(base + index)) }
    for index in 0..<list.count where Self.isCamel(name, of: base[index].name) {
      return (index, UnsafePointer(base + index))
    }
    return nil
  }

  private static func isCamel(_ text: JSONString, of name: StaticString) -> Bool {
    guard !text.hasEscapes, text.count < name.utf8CodeUnitCount else { return false }
    var at = 0
    var upper = false
    for index in 0..<name.utf8CodeUnitCount {
      let byte = name.utf8Start[index]
      if byte == 0x5F {
        upper = true
        continue
      }
      guard at < text.count, text.start[at] == (upper ? byte & 0xDF : byte) else { return false }
      upper = false
      at += 1
    }
    return at == text.count
  }

  private init() {
    let objects: [(Object, [Field])] = [
      (.request, [Field(name: "message", kind: .object(.message)), Field(name: "validate_only", kind: .bool)]),
      (
        .message,
        [
          Field(name: "token", kind: .string, target: .token), Field(name: "topic", kind: .string, target: .topic),
          Field(name: "condition", kind: .string, target: .condition),
          Field(name: "data", kind: .map(.data), section: .common),
          Field(name: "notification", kind: .object(.notification), section: .common),
          Field(name: "android", kind: .object(.android)), Field(name: "apns", kind: .object(.apns)),
          Field(name: "webpush", kind: .object(.webpush)), Field(name: "fcm_options", kind: .object(.options)),
          Field(name: "name", kind: .string),
        ]
      ),
      (.notification, Self.list(["title", "body"], .string) + Self.list(["image"], .picture)),
      (.options, Self.list(["analytics_label"], .label)),
      (
        .android,
        [
          Field(name: "collapse_key", kind: .string), Field(name: "priority", kind: .word, words: ["NORMAL", "HIGH"]),
          Field(name: "ttl", kind: .timeToLive), Field(name: "restricted_package_name", kind: .string),
          Field(name: "data", kind: .map(.data), section: .android),
          Field(name: "notification", kind: .object(.androidNotification), section: .android),
          Field(name: "fcm_options", kind: .object(.options)),
        ] + Self.list(["direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"], .bool)
      ),
      (
        .androidNotification,
        Self.list(
          [
            "title", "body", "channel_id", "tag", "icon", "color", "sound", "click_action", "body_loc_key",
            "title_loc_key", "ticker", "event_time",
          ], .string) + Self.list(["image"], .picture)
          + Self.list(["body_loc_args", "title_loc_args"], .strings)
          + Self.list(
            [
              "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
              "bypass_proxy_notification",
            ], .bool) + [
            Field(name: "vibrate_timings", kind: .durations), Field(name: "notification_count", kind: .integer),
            Field(name: "light_settings", kind: .object(.lightSettings)),
            Field(
              name: "notification_priority", kind: .word,
              words: [
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
              ]),
            Field(
              name: "visibility", kind: .word, words: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
            Field(
              name: "proxy", kind: .word, words: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
          ]
      ),
      (
        .lightSettings,
        [Field(name: "color", kind: .object(.color))]
          + Self.list(["light_on_duration", "light_off_duration"], .duration)
      ),
      (.color, Self.list(["red", "green", "blue", "alpha"], .number)),
      (
        .webpush,
        [
          Field(name: "headers", kind: .map(.headers)), Field(name: "data", kind: .map(.data), section: .webpush),
          Field(name: "notification", kind: .any, section: .webpush),
          Field(name: "fcm_options", kind: .object(.webpushOptions)),
        ]
      ),
      (.webpushOptions, Self.list(["link"], .link) + Self.list(["analytics_label"], .label)),
      (
        .apns,
        [
          Field(name: "headers", kind: .map(.apnsHeaders)), Field(name: "payload", kind: .any, section: .apns),
          Field(name: "fcm_options", kind: .object(.apnsOptions)), Field(name: "live_activity_token", kind: .string),
        ]
      ),
      (.apnsOptions, Self.list(["analytics_label"], .label) + Self.list(["image"], .picture)),
    ]
    fields = .allocate(capacity: objects.count)
    for (object, list) in objects {
      let table = UnsafeMutableBufferPointer<Field>.allocate(capacity: list.count)
      _ = table.initialize(from: list)
      fields.initializeElement(at: object.rawValue, to: table)
    }
  }

  private static func list(_ names: [StaticString], _ kind: Kind) -> [Field] {
    names.map { Field(name: $0, kind: kind) }
  }
}
