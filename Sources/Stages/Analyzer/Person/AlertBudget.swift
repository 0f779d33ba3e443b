import Foundation
import NudgeSchema

/// The most alerts in a person's day, and the messages they are spent on (decision 92).
///
/// Messages come one by one, and nobody knows what the day still brings. That is the online knapsack problem with items of one size. The
/// threshold is Ψ(z) = (U·e/L)^z · L/e of Chakrabarty, Zhou and Lukose, "Budget Constrained Bidding in Keyword Auctions and Online Knapsack
/// Problems" (2007), for values between L and U. Its z, the share that is spent, is here the share of what the rest of the day
/// should have that is spent already.
struct AlertBudget: Equatable {
  /// L: what a message of low priority is worth by the simple rules.
  static let least = 0.1
  /// U.
  static let most = 1.0
  /// The share of what a value lacks to `most` that high priority adds.
  static let highBonus = 0.5

  /// Alerts in a day.
  let limit: Int

  /// The value, in thousandths, from which a message alerts; nil: no alert is left. 0: any does, because no more is spent than the day
  /// so far allows.
  ///
  /// - Parameter elapsed: The share of the day that has gone, 0 to 1.
  func threshold(used: Int, elapsed: Double) -> Int? {
    guard used < limit else { return nil }
    let spent = Double(used) / Double(limit)
    guard spent > elapsed else { return 0 }
    let ahead = (spent - elapsed) / (1 - elapsed)
    return Int((Self.least * exp(ahead * (1 + log(Self.most / Self.least)) - 1) * 1_000).rounded())
  }
}
