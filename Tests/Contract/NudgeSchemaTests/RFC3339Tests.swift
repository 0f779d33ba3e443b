import Foundation
import NudgeSchema
import TestSupport
import Testing

@Suite("Times as RFC 3339")
struct RFC3339Tests {
  @Test("a time's text is read back, by us and by Foundation, as the same time")
  func textAndBack() throws {
    var random = SeededGenerator(announcedFor: "RFC 3339 text and back")
    let formatter = formatter(fraction: true)
    for _ in 0..<20_000 {
      let time = Int64.random(in: SchemaLimits.earliestTime...SchemaLimits.latestTime, using: &random)
      let text = RFC3339.text(time)
      #expect(RFC3339.milliseconds(text) == time, "\(text), seed \(random.seed)")
      #expect(milliseconds(formatter.date(from: text)) == time, "\(text), seed \(random.seed)")
    }
    for time in [0, 951_782_400_000, 4_107_542_399_999, SchemaLimits.latestTime] {
      #expect(RFC3339.milliseconds(RFC3339.text(time)) == time)
      #expect(milliseconds(formatter.date(from: RFC3339.text(time))) == time)
    }
  }

  @Test("any date, time and offset, with a fraction or without, is read as Foundation reads it")
  func sameAsFoundation() {
    var random = SeededGenerator(announcedFor: "RFC 3339 as Foundation")
    let (plain, fractional) = (formatter(fraction: false), formatter(fraction: true))
    var accepted = 0
    for _ in 0..<20_000 {
      func pad(_ range: ClosedRange<Int>, _ width: Int = 2) -> String {
        let digits = String(Int.random(in: range, using: &random))
        return String(repeating: "0", count: width - digits.count) + digits
      }
      let date = "\(pad(1600...9999, 4))-\(pad(1...12))-\(pad(1...28))"
      let clock = "\(pad(0...23)):\(pad(0...59)):\(pad(0...59))"
      let fraction = Bool.random(using: &random) ? "" : ".\(pad(0...999, 3))"
      let offset =
        Bool.random(using: &random) ? "Z" : "\(Bool.random(using: &random) ? "+" : "-")\(pad(0...14)):\(pad(0...59))"
      let text = "\(date)T\(clock)\(fraction)\(offset)"
      let expected = milliseconds((fraction.isEmpty ? plain : fractional).date(from: text))
      #expect(RFC3339.milliseconds(text) == expected, "\(text), seed \(random.seed)")
      if expected != nil { accepted += 1 }
    }
    #expect(accepted == 20_000)
  }

  @Test("the schema's pattern accepts all that we read, and what it accepts we read where the month has the day")
  func pattern() throws {
    var random = SeededGenerator(announcedFor: "RFC 3339 pattern")
    let node = try SchemaStore.loaded.get().node("https://nudge.example/schemas/v1/common.schema.json#/$defs/rfc3339")
    let pattern = try Regex(try #require(node.value["pattern"]?.string))
    let alphabet = Array("0123456789-:.TtZz+ 6/")
    var read = 0
    for _ in 0..<20_000 {
      let time = Int64.random(in: SchemaLimits.earliestTime...SchemaLimits.latestTime, using: &random)
      var text = Array(RFC3339.text(time))
      if Bool.random(using: &random) { text.replaceSubrange((text.count - 1)..., with: Array("+05:30")) }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let index = Int.random(in: text.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text[index] = alphabet[Int.random(in: alphabet.indices, using: &random)]
        case 1: text.remove(at: index)
        default: text.insert(alphabet[Int.random(in: alphabet.indices, using: &random)], at: index)
        }
      }
      let (ours, theirs) = (RFC3339.milliseconds(String(text)) != nil, String(text).wholeMatch(of: pattern) != nil)
      if ours { read += 1 }
      #expect(!ours || theirs, "\(String(text)), seed \(random.seed)")
      if theirs, text[8] < "3", !(text[8] == "2" && text[9] == "9") {
        #expect(ours, "\(String(text)), seed \(random.seed)")
      }
    }
    #expect((2_000..<18_000).contains(read), "both kinds must occur")
  }

  @Test(
    "known times",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-11-21T15:40:00.250Z", 1_795_275_600_250),
      ("2026-11-21t15:40:00.25z", 1_795_275_600_250), ("2026-11-21 16:40:00.2509999+01:00", 1_795_275_600_250),
      ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
      ("1969-12-31T23:59:59.999Z", -1), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
      ("9999-12-31T23:59:59.999Z", SchemaLimits.latestTime), ("2026-11-21T15:40:00-00:00", 1_795_275_600_000),
    ])
  func known(text: String, time: Milliseconds) {
    #expect(RFC3339.milliseconds(text) == time)
  }

  @Test(
    "what is no RFC 3339 time is refused",
    arguments: [
      "", "2026", "2026-11-21", "2026-11-21T15:40:00", "2026-11-21T15:40Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
      "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
      "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60",
      "2026-01-01T00:00:00Z ", " 2026-01-01T00:00:00Z", "+2026-01-01T00:00:00Z", "20260101T000000Z",
      "2026-01-01T00:00:00,5Z", "２０２６-01-01T00:00:00Z", "2026-01-01T00:00:00Z\n", "1795275600250",
    ])
  func refused(text: String) {
    #expect(RFC3339.milliseconds(text) == nil)
  }

  @Test("any integer has a text, however wrong the clock that made it")
  func extremes() {
    #expect(RFC3339.text(.min) == "-292275055-05-16T16:47:04.192Z")
    #expect(RFC3339.text(.max) == "292278994-08-17T07:12:55.807Z")
    #expect(RFC3339.text(-1) == "1969-12-31T23:59:59.999Z")
  }

  private func formatter(fraction: Bool) -> ISO8601DateFormatter {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = fraction ? [.withInternetDateTime, .withFractionalSeconds] : .withInternetDateTime
    return formatter
  }

  private func milliseconds(_ date: Date?) -> Milliseconds? {
    date.map { Milliseconds(($0.timeIntervalSince1970 * 1000).rounded()) }
  }
}
