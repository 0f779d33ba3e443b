/// The active faults, and how often each was applied.
struct FaultPlan: Sendable {
  private struct Entry {
    let fault: Fault
    let prefix: [UInt8]?
    var seen = 0
    var used = 0
  }

  private var entries: [Entry]
  private var random: SplitMix64

  init(_ faults: [Fault], seed: UInt64) {
    entries = faults.map { Entry(fault: $0, prefix: $0.tokenPrefix.map { Array($0.utf8) }) }
    random = SplitMix64(state: seed)
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The delay of a request's answer, and the action that replaces a good answer.
  mutating func next(_ endpoint: Fault.Endpoint, token: JSONString?) -> (delay: Duration, action: Fault.Action?) {
    var delay = Duration.zero
    for index in entries.indices {
      guard entries[index].fault.endpoint == endpoint, matches(entries[index].prefix, token) else { continue }
      entries[index].seen += 1
      let fault = entries[index].fault
      guard entries[index].seen > fault.skip, fault.times.map({ entries[index].used < $0 }) ?? true,
        fault.ratio >= 1 || random.nextUnit() < fault.ratio
      else { continue }
      entries[index].used += 1
      delay += fault.delay
      if let action = fault.action { return (delay, action) }
    }
    return (delay, nil)
  }

  private func matches(_ prefix: [UInt8]?, _ token: JSONString?) -> Bool {
    guard let prefix else { return true }
    return token?.withBytes { $0.starts(with: prefix) } ?? false
  }
}

/// A small generator whose whole state is its seed, so that a run can be repeated.
struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0..<1.
  mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
