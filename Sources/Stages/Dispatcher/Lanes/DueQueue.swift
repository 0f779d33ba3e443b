import NudgeSchema

/// A binary heap of elements by time; of two with the same time the first inserted comes first.
struct DueQueue<Element> {
  private struct Entry {
    var time: Milliseconds
    var sequence: UInt64
    var element: Element
  }
  private var entries: [Entry] = []
  private var nextSequence: UInt64 = 0

  /// The earliest time.
  var first: Milliseconds? { entries.first?.time }

  mutating func insert(_ element: Element, at time: Milliseconds) {
    entries.append(Entry(time: time, sequence: nextSequence, element: element))
    nextSequence += 1
    var child = entries.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func pop() -> (element: Element, time: Milliseconds)? {
    guard let top = entries.first else { return nil }
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
    return (top.element, top.time)
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    (entries[a].time, entries[a].sequence) < (entries[b].time, entries[b].sequence)
  }
}

/// A queue: first in, first out.
struct Fifo<Element> {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  var first: Element? { isEmpty ? nil : elements[head] }

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
