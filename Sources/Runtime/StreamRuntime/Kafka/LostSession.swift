/// A session of a group's member that has expired.
struct LostSession {
  /// Whether the loss is answered, so that the member joins again.
  var isAnswered = false
  /// Whether the consumer was fenced meanwhile.
  var isFenced = false
  /// Whether another consumer has taken its place.
  var isRenewed = false
}
