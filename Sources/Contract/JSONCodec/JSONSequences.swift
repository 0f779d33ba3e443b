/// A member of an object.
@frozen
public struct JSONMember {
  /// Its name: a string node.
  public let key: JSONNode
  public let value: JSONNode

  @inlinable
  init(key: JSONNode, value: JSONNode) {
    self.key = key
    self.value = value
  }
}

/// The members of an object, in the order of the document.
@frozen
public struct JSONMembers: Sequence, IteratorProtocol {
  @usableFromInline var position: JSONNode
  @usableFromInline let last: Int

  @inlinable
  init(object: JSONNode) {
    position = object.at(object.index &+ 1)
    last = object.end &- 1
  }

  /// The next member, nil after the last.
  @inlinable
  public mutating func next() -> JSONMember? {
    guard position.index < last else { return nil }
    let member = JSONMember(key: position, value: position.at(position.index &+ 1))
    position = position.at(member.value.end)
    return member
  }
}

/// The elements of an array, in order.
@frozen
public struct JSONElements: Sequence, IteratorProtocol {
  @usableFromInline var position: JSONNode
  @usableFromInline let last: Int

  @inlinable
  init(array: JSONNode) {
    position = array.at(array.index &+ 1)
    last = array.end &- 1
  }

  /// The next element, nil after the last.
  @inlinable
  public mutating func next() -> JSONNode? {
    guard position.index < last else { return nil }
    let element = position
    position = position.at(element.end)
    return element
  }
}
