import Foundation
import NudgeCommands
import ServiceKit

/// Settings of several commands.
enum ResearchSettings {
  static let json = Setting<Bool>("json", environment: .none, default: false, help: "Prints JSON, for machines.")

  static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, help: "What is drawn: when people look, whom they like, and intervals.")
}

extension CommandInput {
  var seed: UInt64 { UInt64(bitPattern: Int64(self[ResearchSettings.seed])) }
}

extension ResampledFigure {
  /// The figure and its interval as percentages.
  var percent: String { String(format: "%.1f %% (%.1f to %.1f)", value * 100, low * 100, high * 100) }
}
