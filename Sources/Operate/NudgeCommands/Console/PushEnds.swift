import NudgeSchema

/// Counts pushes of messages by how they stand, in slots of time. A push is in the slot of its decision, and moves from state to state there as
/// outcomes and receipts come. A value with a bound on memory.
struct PushEnds {
  private struct Push {
    var slot: Milliseconds
    /// Whether it is counted by its devices; before, it counts once.
    var hasDevices = false
  }

  private struct Delivery {
    var slot: Milliseconds
    var glance = DeliveryGlance()
  }

  /// By slot.
  private(set) var counts: [Milliseconds: [PushEndState: Int]] = [:]
  /// Whether pushes were left out, because there are more than fit.
  private(set) var isFull = false
  private let most: Int
  /// By the hash of the push's id.
  private var pushes: [UInt64: Push] = [:]
  /// By the hash of push and device.
  private var deliveries: [UInt64: Delivery] = [:]

  /// - Parameter most: The most pushes and devices that are followed; some 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push was decided for. One that changes the badge alone is not to be told of: it has no receipts.
  mutating func decided(_ pushId: String, in slot: Milliseconds) {
    let key = FNV1a.hash(pushId)
    guard pushes[key] == nil, hasRoom() else { return }
    pushes[key] = Push(slot: slot)
    count(.waiting, in: slot, 1)
  }

  mutating func ended(_ pushId: String, on deviceId: String, _ result: OutcomeResult, errorCode: String?) {
    change(pushId, deviceId) { $0.end(result, errorCode: errorCode) }
  }

  mutating func reached(_ state: ReceiptState, _ pushId: String, on deviceId: String) {
    change(pushId, deviceId) { $0.reach(state) }
  }

  /// Forgets the pushes of earlier slots.
  mutating func forget(before slot: Milliseconds) {
    guard counts.contains(where: { $0.key < slot }) else { return }
    counts = counts.filter { $0.key >= slot }
    pushes = pushes.filter { $0.value.slot >= slot }
    deliveries = deliveries.filter { $0.value.slot >= slot }
    if pushes.count + deliveries.count < most { isFull = false }
  }

  /// Leaves out pushes that no decision of a slot asked for: older ones, and those that only remove a notification.
  private mutating func change(_ pushId: String, _ deviceId: String, _ change: (inout DeliveryGlance) -> Void) {
    let key = FNV1a.hash(pushId)
    guard let push = pushes[key] else { return }
    let place = DeliveryGlance.key(push: key, deviceId: deviceId)
    let known = deliveries[place]
    guard known != nil || hasRoom() else { return }
    var delivery = known ?? Delivery(slot: push.slot)
    if known != nil {
      count(delivery.glance.state, in: push.slot, -1)
    } else if !push.hasDevices {
      pushes[key]?.hasDevices = true
      count(.waiting, in: push.slot, -1)
    }
    change(&delivery.glance)
    deliveries[place] = delivery
    count(delivery.glance.state, in: push.slot, 1)
  }

  private mutating func hasRoom() -> Bool {
    if pushes.count + deliveries.count >= most { isFull = true }
    return !isFull
  }

  private mutating func count(_ state: PushEndState, in slot: Milliseconds, _ change: Int) {
    counts[slot, default: [:]][state, default: 0] += change
  }
}
