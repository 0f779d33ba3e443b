#if DEBUG
  import ServiceKit
  import TestSupport
  import Testing

  @testable import StreamRuntime

  @Suite("Plans of fail-points")
  struct FailPointPlanTests {
    @Test("points, actions and occurrences are read, in the order given; the first occurrence need not be named")
    func reads() throws {
      let plan = try FailPointPlan("before-commit=die@3;store-write=fail;before-commit=stall:12s@5")
      #expect(
        plan.entries == [
          .init(point: .beforeCommit, action: .die, occurrence: 3),
          .init(point: .storeWrite, action: .fail, occurrence: 1),
          .init(point: .beforeCommit, action: .stall(12_000), occurrence: 5),
        ])
    }

    @Test(
      "an invalid plan is refused with the reason",
      arguments: [
        ("before-commit", "needs an action"), ("nowhere=die", "no fail-point 'nowhere'"),
        ("before-commit=explode", "die, fail or stall:DURATION"), ("before-commit=stall:12", "a duration such as"),
        ("before-commit=die@0", "a number from 1"), ("before-commit=die@x", "a number from 1"), (";", "no fail-point"),
      ])
    func refuses(_ text: String, _ reason: String) {
      let failure = #expect(throws: FailPointPlan.Failure.self) { try FailPointPlan(text) }
      #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "")")
      #expect(failure?.description.hasPrefix("NUDGE_FAIL_POINTS") == true)
    }

    @Test("the environment decides: without the variable there are no fail-points, and a wrong value is an error")
    func environment() throws {
      let capture = LogCapture()
      let logger = Logger(label: "test", sink: capture.sink)
      #expect(try FailPoints.fromEnvironment([:], logger: logger) == nil)
      #expect(try FailPoints.fromEnvironment(["NUDGE_FAIL_POINTS": ""], logger: logger) == nil)
      #expect(capture.entries.isEmpty)
      #expect(try FailPoints.fromEnvironment(["NUDGE_FAIL_POINTS": "store-open=die"], logger: logger) != nil)
      #expect(capture.entries.map(\.level) == [.warning])
      #expect(throws: FailPointPlan.Failure.self) {
        try FailPoints.fromEnvironment(["NUDGE_FAIL_POINTS": "store-open=dye"], logger: logger)
      }
    }
  }
#endif
