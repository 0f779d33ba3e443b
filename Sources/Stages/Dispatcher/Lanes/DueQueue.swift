import NudgeSchema
import StreamRuntime

/// Devices by the time they are to be looked at: a binary heap. An entry is a hint: whoever takes one looks whether the
/// device still waits for that, so nothing has to be taken out early.
struct DueQueue {
  private struct Entry {
    var time: Milliseconds
    /// Entered first, taken first.
    var sequence: UInt64
    var device: DeviceKey
  }
  private var entries: [Entry] = []
  private var nextSequence: UInt64 = 0

  /// When the first is due.
  var first: Milliseconds? { entries.first?.time }

  mutating func insert(_ device: DeviceKey, at time: Milliseconds) {
    entries.append(Entry(time: time, sequence: nextSequence, device: device))
    nextSequence += 1
    var child = entries.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes the first entry, if it is due.
  mutating func pop(dueAt now: Milliseconds) -> DeviceKey? {
    guard let top = entries.first, top.time <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && precedes(child, least) {
          least = child
        }
        if least == parent { break }
        entries.swapAt(parent, least)
        parent = least
      }
    }
    return top.device
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    (entries[a].time, entries[a].sequence) < (entries[b].time, entries[b].sequence)
  }
}

/// First in, first out.
struct Fifo<Element> {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      // Half of it is gone: move the rest down, so that each element is moved about once.
      if head > 64, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }
}
