import FCMEmulator
import Foundation
import HTTPTransport
import Testing

@Suite("What the emulator takes and refuses, over the wire", .timeLimit(.minutes(2)))
struct MessageRuleTests {
  /// A rule with a body that keeps it and bodies that break it, and the field that is then named (nil: no details).
  struct Rule: Sendable {
    let name: String
    let good: [String]
    let bad: [String]
    var field: String?

    init(_ name: String, good: [String], bad: [String], field: String?) {
      self.name = name
      self.good = good
      self.bad = bad
      self.field = field
    }
  }

  /// A message to a token with more in it.
  static func with(_ rest: String) -> String { #"{"message":{"token":"t",\#(rest)}}"# }

  static let rules: [Rule] = [
    Rule(
      "exactly one target",
      good: [
        #"{"message":{"token":"t"}}"#, #"{"message":{"topic":"news"}}"#, #"{"message":{"condition":"'a' in topics"}}"#,
      ],
      bad: [#"{"message":{}}"#, #"{}"#, #"{"message":null}"#, #"{"message":{"token":null}}"#], field: "message"),
    Rule("not two targets", good: [], bad: [with(#""topic":"news""#)], field: "message"),
    Rule(
      "a token is text without spaces", good: [#"{"message":{"token":"abc:APA91-_"}}"#],
      bad: [#"{"message":{"token":""}}"#, #"{"message":{"token":"a b"}}"#, #"{"message":{"token":"\u00e9"}}"#],
      field: "message.token"),
    Rule("a token is a string", good: [], bad: [#"{"message":{"token":7}}"#], field: "message.token"),
    Rule(
      "validate_only is a boolean",
      good: [#"{"validate_only":true,"message":{"token":"t"}}"#, #"{"validateOnly":false,"message":{"token":"t"}}"#],
      bad: [#"{"validate_only":"true","message":{"token":"t"}}"#], field: "validate_only"),
    Rule(
      "no unknown field in the request", good: [], bad: [#"{"message":{"token":"t"},"dry_run":true}"#], field: ""),
    Rule(
      "no unknown field in the message", good: [with(#""name":"x""#)],
      bad: [with(#""to":"x""#), with(#""priority":"high""#)], field: "message"),
    Rule("no field twice", good: [], bad: [#"{"message":{"token":"t","data":{},"data":{}}}"#], field: "message"),
    Rule(
      "names in snake case or camel case",
      good: [with(#""fcm_options":{"analytics_label":"a"}"#), with(#""fcmOptions":{"analyticsLabel":"a"}"#)],
      bad: [with(#""fcmoptions":{}"#), with(#""fcm_Options":{}"#)], field: "message"),
    Rule(
      "pictures have absolute addresses",
      good: [
        with(#""notification":{"image":"https://cdn.example.com/i.png"}"#),
        with(#""android":{"notification":{"image":"http://cdn.example.com/i.png"}}"#),
        with(#""apns":{"fcm_options":{"image":"https://cdn.example.com/i.png"}}"#),
      ],
      bad: [
        with(#""notification":{"image":"/i.png"}"#), with(#""notification":{"image":"i.png"}"#),
        with(#""notification":{"image":"data:image/png;base64,AA"}"#), with(#""notification":{"image":""}"#),
      ], field: "message.notification.image"),
    Rule(
      "pictures of a platform have absolute addresses", good: [],
      bad: [with(#""apns":{"fcm_options":{"image":"//cdn.example.com/i.png"}}"#)],
      field: "message.apns.fcm_options.image"),
    Rule(
      "a link is an https address", good: [with(#""webpush":{"fcm_options":{"link":"https://chat.example.com/"}}"#)],
      bad: [
        with(#""webpush":{"fcm_options":{"link":"http://chat.example.com/"}}"#),
        with(#""webpush":{"fcm_options":{"link":"/c/1"}}"#),
      ], field: "message.webpush.fcm_options.link"),
    Rule(
      "headers of APNs have characters that HTTP allows",
      good: [with(#""apns":{"headers":{"apns-collapse-id":"a b~"}}"#)],
      bad: [
        with(#""apns":{"headers":{"apns-collapse-id":"\u0447\u0430\u0442"}}"#),
        with(#""apns":{"headers":{"apns-collapse-id":"a\nb"}}"#), with(#""apns":{"headers":{"a b":"c"}}"#),
        with(#""apns":{"headers":{"":"c"}}"#),
      ], field: "message.apns.headers"),
    Rule(
      "headers of Web Push too", good: [with(#""webpush":{"headers":{"TTL":"1","Urgency":"high"}}"#)],
      bad: [with(#""webpush":{"headers":{"Topic":"\u00e9"}}"#)], field: "message.webpush.headers"),
    Rule(
      "labels of FCM's statistics",
      good: [
        with(#""fcm_options":{"analytics_label":"aZ0-_.~%"}"#),
        with("\"fcm_options\":{\"analytics_label\":\"\(String(repeating: "a", count: 50))\"}"),
      ],
      bad: [
        with(#""fcm_options":{"analytics_label":""}"#), with(#""fcm_options":{"analytics_label":"a b"}"#),
        with("\"fcm_options\":{\"analytics_label\":\"\(String(repeating: "a", count: 51))\"}"),
      ], field: "message.fcm_options.analytics_label"),
    Rule(
      "data values are strings", good: [with(#""data":{"a":"1","b":""}"#), with(#""data":{}"#)],
      bad: [with(#""data":{"a":1}"#), with(#""data":{"a":null}"#), with(#""data":{"a":{"b":"c"}}"#)],
      field: "message.data[0].value"),
    Rule("data is an object", good: [], bad: [with(#""data":[]"#), with(#""data":"x""#)], field: "message.data"),
    Rule(
      "reserved data keys", good: [with(#""data":{"fromage":"1","type":"x","ggoogle":"y"}"#)],
      bad: [
        with(#""data":{"from":"1"}"#), with(#""data":{"message_type":"1"}"#), with(#""data":{"google.x":"1"}"#),
        with(#""data":{"gcm_y":"1"}"#), with(#""data":{"fr\u006fm":"1"}"#), with(#""data":{"":"1"}"#),
      ], field: "message.data"),
    Rule(
      "the notification's fields", good: [with(#""notification":{"title":"a","body":"b","image":"https://c/d"}"#)],
      bad: [with(#""notification":{"title":"a","badge":"1"}"#), with(#""notification":{"click_action":"1"}"#)],
      field: "message.notification"),
    Rule(
      "the notification's types", good: [with(#""notification":{"title":null}"#)],
      bad: [with(#""notification":{"title":1}"#)], field: "message.notification.title"),
    Rule(
      "ttl: seconds with s, 0 to four weeks",
      good: [
        with(#""android":{"ttl":"0s"}"#), with(#""android":{"ttl":"3.5s"}"#), with(#""android":{"ttl":"2419200s"}"#),
        with(#""android":{"ttl":"1.000000001s"}"#),
      ],
      bad: [
        with(#""android":{"ttl":"2419201s"}"#), with(#""android":{"ttl":"2419200.1s"}"#),
        with(#""android":{"ttl":"-1s"}"#), with(#""android":{"ttl":"10"}"#), with(#""android":{"ttl":"10ms"}"#),
        with(#""android":{"ttl":10}"#), with(#""android":{"ttl":"s"}"#), with(#""android":{"ttl":".5s"}"#),
        with(#""android":{"ttl":"1.s"}"#), with(#""android":{"ttl":"1.0000000001s"}"#),
        with(#""android":{"ttl":"99999999999999999999s"}"#),
      ], field: "message.android.ttl"),
    Rule(
      "Android's priority", good: [with(#""android":{"priority":"HIGH"}"#), with(#""android":{"priority":"normal"}"#)],
      bad: [with(#""android":{"priority":"urgent"}"#), with(#""android":{"priority":10}"#)],
      field: "message.android.priority"),
    Rule(
      "Android's fields",
      good: [
        with(
          #""android":{"collapse_key":"a","restricted_package_name":"b","data":{"a":"b"},"fcm_options":{"analytics_label":"x"},"direct_boot_ok":true}"#
        ),
        with(
          #""android":{"notification":{"channel_id":"c","tag":"t","title_loc_args":["a"],"notification_count":3,"sticky":false,"vibrate_timings":["0.5s"],"notification_priority":"PRIORITY_MAX","light_settings":{"color":{"red":1,"alpha":0.5},"light_on_duration":"1s"}}}"#
        ),
      ],
      bad: [with(#""android":{"notifications":{}}"#), with(#""android":{"tag":"x"}"#)], field: "message.android"),
    Rule(
      "Android's notification count is an integer",
      good: [
        with(#""android":{"notification":{"notification_count":"3"}}"#),
        with(#""android":{"notification":{"notification_count":2147483647}}"#),
      ],
      bad: [
        with(#""android":{"notification":{"notification_count":3.5}}"#),
        with(#""android":{"notification":{"notification_count":"x"}}"#),
        with(#""android":{"notification":{"notification_count":"+3"}}"#),
        with(#""android":{"notification":{"notification_count":2147483648}}"#),
      ], field: "message.android.notification.notification_count"),
    Rule(
      "APNs headers are strings", good: [with(#""apns":{"headers":{"apns-push-type":"alert","apns-expiration":"0"}}"#)],
      bad: [with(#""apns":{"headers":{"apns-priority":10}}"#)], field: "message.apns.headers[0].value"),
    Rule(
      "apns-priority is 5 or 10",
      good: [with(#""apns":{"headers":{"apns-priority":"5"}}"#), with(#""apns":{"headers":{"apns-priority":"10"}}"#)],
      bad: [with(#""apns":{"headers":{"apns-priority":"7"}}"#), with(#""apns":{"headers":{"apns-priority":"high"}}"#)],
      field: "message.apns.headers"),
    Rule(
      "apns-collapse-id has at most 64 bytes",
      good: [with(#""apns":{"headers":{"apns-collapse-id":"\#(String(repeating: "c", count: 64))"}}"#)],
      bad: [
        with(#""apns":{"headers":{"apns-collapse-id":"\#(String(repeating: "c", count: 65))"}}"#),
        with(#""apns":{"headers":{"apns-collapse-id":"\#(String(repeating: "é", count: 33))"}}"#),
      ], field: "message.apns.headers"),
    Rule(
      "the APNs payload is any object",
      good: [
        with(
          #""apns":{"payload":{"aps":{"alert":{"title":"x"},"badge":3,"mutable-content":1},"list":[1,[true,null]]}}"#)
      ],
      bad: [with(#""apns":{"payload":[1]}"#), with(#""apns":{"payload":"x"}"#)], field: "message.apns.payload"),
    Rule(
      "the APNs options", good: [with(#""apns":{"fcm_options":{"image":"https://x","analytics_label":"y"}}"#)],
      bad: [with(#""apns":{"fcm_options":{"link":"https://x"}}"#)], field: "message.apns.fcm_options"),
    Rule(
      "Web Push",
      good: [
        with(
          #""webpush":{"headers":{"TTL":"60","Urgency":"high"},"data":{"a":"b"},"notification":{"title":"x","actions":[]},"fcm_options":{"link":"https://x"}}"#
        )
      ], bad: [with(#""webpush":{"ttl":"60"}"#)], field: "message.webpush"),
    Rule(
      "4,096 bytes of keys and values, with the larger platform part",
      good: [
        with(#""data":{"key":"\#(String(repeating: "x", count: 4_093))"}"#),
        // 2,048 each: a platform's device gets the common part and its own.
        with(
          #""data":{"k":"\#(String(repeating: "x", count: 2_047))"},"android":{"data":{"k":"\#(String(repeating: "y", count: 2_047))"}},"webpush":{"data":{"k":"\#(String(repeating: "y", count: 2_047))"}}"#
        ),
        // An escape counts as what it stands for.
        with(#""data":{"key":"\#(String(repeating: #"\u0041"#, count: 4_093))"}"#),
      ],
      bad: [
        with(#""data":{"key":"\#(String(repeating: "x", count: 4_094))"}"#),
        with(#""data":{"key":"\#(String(repeating: "é", count: 2_047))"}"#),
        with(#""notification":{"body":"\#(String(repeating: "x", count: 4_093))"}"#),
        with(
          #""data":{"k":"\#(String(repeating: "x", count: 2_047))"},"apns":{"payload":{"k":"\#(String(repeating: "y", count: 2_048))"}}"#
        ),
        with(#""apns":{"payload":{"list":["\#(String(repeating: "y", count: 4_093))"]}}"#),
      ], field: nil),
    Rule(
      "JSON, by the letter",
      good: [
        " { \"message\" :\n{ \"token\" : \"t\" , \"data\" : { \"e\" : \"\\u00e9\\ud83d\\ude00\\n\\/\" , \"u\": \"é😀\" } } } \r\n\t"
      ],
      bad: [
        "", "null", "[]", "7", #""text""#, "{", #"{"message":{"token":"t"}"#, #"{"message":{"token":"t"}}x"#,
        #"{"message":{"token":"t",}}"#, #"{"message":{"token":'t'}}"#, #"{message:{"token":"t"}}"#,
        with(#""data":{"a":"\x"}"#), with(#""data":{"a":"\ud83d"}"#), with(#""data":{"a":"\ude00"}"#),
        with(#""data":{"a":"\ud83d\u0041"}"#), with(#""data":{"a":"\u00g0"}"#), with("\"data\":{\"a\":\"\n\"}"),
        with("\"data\":{\"a\":\"\u{0}\"}"), with(#""apns":{"payload":{"a":01}}"#),
        with(#""apns":{"payload":{"a":1.}}"#), with(#""apns":{"payload":{"a":+1}}"#),
        with(#""apns":{"payload":{"a":1e}}"#), with(#""apns":{"payload":{"a":tru}}"#),
        with(#""apns":{"payload":{"a":NaN}}"#), #"{"message":{"token":"t"}} {}"#,
      ], field: nil),
  ]

  @Test(
    "Every rule has bodies that are taken and bodies that are refused with 400 INVALID_ARGUMENT and the field's name")
  func rules() async throws {
    let desk = try Desk()
    for rule in Self.rules {
      for body in rule.good {
        let response = try await desk.send(body)
        #expect(
          response.status == 200,
          "\(rule.name): \(body.prefix(200)) → \(String(decoding: response.body, as: UTF8.self))")
      }
      for body in rule.bad {
        let response = try await desk.send(body)
        #expect(response.status == 400, "\(rule.name): \(body.prefix(200))")
        guard response.status == 400 else { continue }
        let error = try ErrorBody(response)
        #expect(error.error.status == "INVALID_ARGUMENT")
        // A body that is no object at all has no field to name either.
        if let field = rule.field {
          #expect(error.violation?.field == field, "\(rule.name): \(body.prefix(200)) → \(error.error.message)")
        }
      }
    }
    desk.end()
  }

  @Test("Bytes that are no UTF-8 are refused, wherever they stand")
  func invalidUTF8() async throws {
    let desk = try Desk()
    let sequences: [[UInt8]] = [
      [0xFF], [0xC3], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      [0xF0, 0x9F, 0x98],
    ]
    for bytes in sequences {
      let body = Array(#"{"message":{"token":"t","data":{"a":""#.utf8) + bytes + Array(#""}}}"#.utf8)
      #expect(try await desk.send(body).get().status == 400, "\(bytes)")
    }
    desk.end()
  }

  @Test("Nesting up to 90 levels is taken, a thousand are refused")
  func depth() async throws {
    let desk = try Desk()
    func nested(_ levels: Int) -> String {
      Self.with(
        #""apns":{"payload":{"a":\#(String(repeating: "[", count: levels))\#(String(repeating: "]", count: levels))}}"#)
    }
    #expect(try await desk.send(nested(90)).status == 200)
    #expect(try await desk.send(nested(1_000)).status == 400)
    #expect(try await desk.send(nested(100_000)).status == 400)
    desk.end()
  }

  @Test(
    "An unknown field is named in Google's words; a bad token is marked as FCM's own refusal; too large has no details")
  func words() async throws {
    let desk = try Desk()
    let unknown = try ErrorBody(await desk.send(Self.with(#""badge":3"#)))
    #expect(
      unknown.violation?.description
        == #"Invalid JSON payload received. Unknown name "badge" at 'message': Cannot find field."#)
    #expect(unknown.fcmCode == nil)
    let token = try ErrorBody(await desk.send(#"{"message":{"token":"not a token"}}"#))
    #expect(token.fcmCode == "INVALID_ARGUMENT")
    #expect(token.error.message == "The registration token is not a valid FCM registration token")
    let large = try ErrorBody(
      await desk.send(Self.with(#""data":{"k":"\#(String(repeating: "x", count: 5_000))"}"#)))
    #expect(large.error.details == nil)
    desk.end()
  }

  @Test("Random bytes and cut or altered messages are answered, never by silence, and only by 200 or 400")
  func fuzz() async throws {
    let desk = try Desk()
    let seed = UInt64.random(in: .min ... .max)
    var random = Seeded(state: seed)
    let whole = Array(
      Self.with(
        #""data":{"a":"\u00e9é\ud83d\ude00"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":1.5e3}}},"android":{"ttl":"3.5s"}"#
      ).utf8)
    for round in 0..<400 {
      var body = whole
      switch round % 3 {
      case 0: body = Array(whole.prefix(Int.random(in: 0..<whole.count, using: &random)))
      case 1: body[Int.random(in: 0..<whole.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      default:
        body = (0..<Int.random(in: 1..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      let response = try await desk.send(body).get()
      #expect(response.status == 200 || response.status == 400, "seed \(seed), round \(round)")
      if response.status == 200 {
        // An accepted body must be JSON for other parsers too.
        #expect(throws: Never.self, "seed \(seed), round \(round)") {
          try JSONSerialization.jsonObject(with: Data(body))
        }
      }
    }
    desk.end()
  }
}

/// A generator whose whole state is its seed.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
