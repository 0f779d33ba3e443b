/// A large value behind a pointer. It means the same as without it: copies share the value until one of them changes it.
///
/// A push has some thirty fields. A lane copies it several times, and each copy counts the references of all of its texts.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
  /// `@unchecked Sendable` because the value changes only while nobody else refers to it.
  private final class Box: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(wrappedValue: Value) { box = Box(wrappedValue) }

  var wrappedValue: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

extension Boxed: Equatable where Value: Equatable {
  static func == (a: Self, b: Self) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Boxed: Codable where Value: Codable {
  init(from decoder: any Decoder) throws { self.init(wrappedValue: try Value(from: decoder)) }
  func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension Boxed: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: wrappedValue) }
}
