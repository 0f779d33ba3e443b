import NudgeSchema
import Testing

@testable import NudgeLab
@testable import nudge_research

@Suite("What a budget of alerts reaches")
struct BudgetMeasureTests {
  private func item(_ value: Int, isMeant: Bool = false) -> BudgetMeasure.Item {
    BudgetMeasure.Item(at: 0, value: value, isMeant: isMeant)
  }

  @Test("D20: the clairvoyant choice is of the messages worth most, of equals the first")
  func clairvoyant() {
    let sums = BudgetMeasure.day(
      [
        (item(700), true), (item(900, isMeant: true), true), (item(950), false), (item(900), false),
        (item(990, isMeant: true), false),
      ], 3)
    #expect(
      sums
        == BudgetMeasure.Sums(
          days: 1, busyDays: 1, items: 5, meant: 2, alerts: 2, value: 1_600, meantAlerting: 1, bestAlerts: 3,
          bestValue: 2_840, bestMeantAlerting: 2, busyValue: 1_600, busyBestValue: 2_840))
    let calm = BudgetMeasure.day([(item(700, isMeant: true), true)], 3)
    #expect(calm.busyDays == 0 && calm.value == calm.bestValue && calm.busyBestValue == 0 && calm.meantAlerting == 1)
  }

  @Test("D20: with room for all nothing is lost; a busy morning spends no more than the budget")
  func logs() throws {
    var measure = BudgetMeasure()
    // Shortly after midnight UTC: ann asks, and ben answers by her name.
    let lines = (0..<30).map { number in
      let asks = number % 2 == 0
      return ChatMessage(
        log: "l", number: number + 1, at: 1_100_044_800_000 + Int64(number) * 60_000, nick: asks ? "ann" : "ben",
        text: asks ? "does anybody know apt \(number)?" : "ann: try number \(number)", replyTo: asks ? [] : [number],
        kind: nil)
    }
    measure.add(lines)
    let people = try #require(measure.logs.first)
    #expect(people.count == 2 && people[0].count == 15 && people[0].allSatisfy(\.isMeant))
    let all = try #require(measure.sums(dailyAlerts: 100).first)
    #expect(all.alerts == people.reduce(0) { $0 + $1.count } && all.value == all.bestValue && all.busyDays == 0)
    let few = try #require(measure.sums(dailyAlerts: 5).first)
    #expect((6...10).contains(few.alerts) && few.bestAlerts == 10 && few.busyDays == 2 && few.days == 2)
    let summary = BudgetSummary(dailyAlerts: 5, [few, few], seed: 1)
    let share = (Double(few.value) / Double(few.bestValue) * 1_000).rounded() / 1_000
    #expect(summary.valueReached == .init(value: share, low: share, high: share) && share <= 1)
    #expect(summary.personDays == 4 && summary.meantAlerting == 2 * few.meantAlerting)
  }
}
