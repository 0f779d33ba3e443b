import Testing

@testable import NudgeLab

@Suite("The shape of a load")
struct LoadShapeTests {
  @Test("a steady load has its messages at equal distances")
  func steady() {
    let shape = LoadShape(rate: 200)
    #expect(shape.due(0) == 0 && shape.due(1) == 0.005 && shape.due(200) == 1)
    #expect(shape.messages(in: 2.5) == 500)
  }

  @Test("a ramp has half as many messages, closer and closer")
  func ramp() {
    let shape = LoadShape(rate: 100, ramp: 10)
    #expect(shape.messages(in: 10) == 500 && shape.messages(in: 11) == 600)
    #expect(shape.due(500) == 10 && shape.due(600) == 11)
    #expect(shape.due(2) - shape.due(1) > shape.due(400) - shape.due(399))
  }

  @Test("a burst ends each period after the ramp, at a multiple of the rate")
  func burst() throws {
    let burst = try LoadShape.Burst.parse("10x5s/1m")
    #expect(burst == LoadShape.Burst(every: 60, lasting: 5, factor: 10) && burst.settingText == "10x5s/1m")
    let shape = LoadShape(rate: 10, ramp: 20, burst: burst)
    // 20 s of rising, 55 s quiet, 5 s of 100 a second.
    #expect(shape.messages(in: 20) == 100 && shape.messages(in: 75) == 650 && shape.messages(in: 80) == 1_150)
    #expect(shape.messages(in: 140) == 2_200)
    #expect(abs(shape.due(650) - 75) < 1e-9 && abs(shape.due(1_150) - 80) < 1e-9)
  }

  @Test(
    "due times and counts agree, and never go backwards",
    arguments: [
      LoadShape(rate: 3), LoadShape(rate: 70, ramp: 7), LoadShape(rate: 0.5, ramp: 60),
      LoadShape(rate: 40, ramp: 3, burst: LoadShape.Burst(every: 2.5, lasting: 0.7, factor: 9)),
    ])
  func inverse(_ shape: LoadShape) {
    var last = 0.0
    for message in 0..<3_000 {
      let due = shape.due(message)
      #expect(due >= last && abs(shape.messages(in: due) - Double(message)) < 1e-6)
      last = due
    }
  }

  @Test(
    "an invalid burst is rejected",
    arguments: ["", "5s/1m", "10x5s", "10x2m/1m", "0.5x1s/1m", "axb/c", "2x0s/1m"])
  func refused(_ text: String) {
    #expect(throws: (any Error).self) { try LoadShape.Burst.parse(text) }
  }
}
