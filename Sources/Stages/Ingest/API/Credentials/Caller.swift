/// The sender of a request.
enum Caller: Sendable, Equatable {
  /// A backend, by the name of its API key. It speaks for everybody.
  case backend(name: String)
  /// An app, by the user of its token. It speaks for that user alone (M10).
  case user(id: String)

  /// Whether the request came with a user's own token.
  var isUser: Bool { if case .user = self { true } else { false } }
}

/// A caller, and for how long they are one.
struct CallerSession: Sendable {
  let caller: Caller
  /// When a user's token expires, in seconds since the epoch; nil: an API key.
  let expiresAt: Int64?
}

/// The reason for refusing a request's credentials.
struct Unauthorized: Error, Equatable {
  /// For the caller.
  let message: String
  /// The seconds until it is checked at all; nil: it was.
  var comeBackAfter: Int?
}
