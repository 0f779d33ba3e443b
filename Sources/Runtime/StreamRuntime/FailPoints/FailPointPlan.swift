#if DEBUG
  import NudgeSchema
  import ServiceKit

  /// The actions at fail-points that a process was started with: `before-commit=die@3;store-write=fail`.
  struct FailPointPlan: Equatable {
    /// An action at a fail-point.
    struct Entry: Equatable {
      var point: FailPoint
      var action: FailAction
      /// The visit of the fail-point at which the action happens, from 1. It happens once.
      var occurrence: Int
    }

    /// The text is not a plan. The description shows the format.
    struct Failure: Error, CustomStringConvertible, Equatable {
      var description: String
    }

    /// In the order of the text.
    var entries: [Entry] = []

    /// Reads `POINT=ACTION@N;…`, where an action is `die`, `fail` or `stall:DURATION`, and `@1` may be left out.
    init(_ text: String) throws(Failure) {
      for part in text.split(separator: ";") { entries.append(try Self.entry(part)) }
      guard !entries.isEmpty else { throw Self.failure(text, "it names no fail-point") }
    }

    private static func entry(_ part: Substring) throws(Failure) -> Entry {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else { throw failure(part, "a fail-point needs an action") }
      guard let point = FailPoint(rawValue: String(sides[0])) else {
        let names = FailPoint.allCases.map(\.rawValue).joined(separator: ", ")
        throw failure(part, "there is no fail-point '\(sides[0])'; there are \(names)")
      }
      let told = sides[1].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      var occurrence = 1
      if told.count == 2 {
        guard let number = Int(told[1]), number > 0 else {
          throw failure(part, "behind '@' there is a number from 1")
        }
        occurrence = number
      }
      return Entry(point: point, action: try action(told[0], part), occurrence: occurrence)
    }

    private static func action(_ text: Substring, _ part: Substring) throws(Failure) -> FailAction {
      switch text {
      case "die": return .die
      case "fail": return .fail
      default:
        guard text.hasPrefix("stall:") else {
          throw failure(part, "an action is die, fail or stall:DURATION")
        }
        do throws(SettingValueError) {
          return .stall(try Duration.parse(String(text.dropFirst("stall:".count))).milliseconds)
        } catch {
          throw failure(part, "'stall:' needs \(error.allowed)")
        }
      }
    }

    private static func failure(_ text: some StringProtocol, _ reason: String) -> Failure {
      Failure(
        description: "\(FailPoints.variable): '\(text)': \(reason). Such as before-commit=die@3;store-write=fail")
    }
  }
#endif
