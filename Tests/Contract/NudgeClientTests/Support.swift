import Foundation
import NudgeClient
import Synchronization
import Testing

/// Ids that count up: `id1`, `id2`, …
func countingIds() -> @Sendable () -> String {
  let counter = Atomic<Int>(0)
  return { "id\(counter.add(1, ordering: .relaxed).newValue)" }
}

/// Seconds after a fixed beginning.
func at(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_000 + seconds) }

/// The JSON of an event as a dictionary.
func json(_ event: ClientEvent) throws -> NSDictionary {
  try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(event)) as? NSDictionary)
}
