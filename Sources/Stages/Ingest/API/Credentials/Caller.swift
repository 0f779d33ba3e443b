/// The sender of a request.
enum Caller: Sendable, Equatable {
  /// A backend, by the name of its API key. It may publish for everybody.
  case backend(name: String)
  /// An app, by the user of its token. It may publish only for that user (M10).
  case user(id: String)

  /// Whether the request came with a user's own token.
  var isUser: Bool { if case .user = self { true } else { false } }
}

/// A caller with the expiry of its credentials.
struct CallerSession: Sendable {
  let caller: Caller
  /// When a user's token expires, in seconds since the epoch; nil for an API key.
  let expiresAt: Int64?
}

/// Why a request's credentials are refused.
struct Unauthorized: Error, Equatable {
  /// The message for the caller.
  let message: String
  /// The seconds until the credentials will be checked; nil if they were checked.
  var comeBackAfter: Int?
}
