import Foundation

/// An event of `GET /v1/live`.
public enum LiveEvent: Sendable, Equatable {
  /// A record of `nudge.banners`: a banner, a notice, or what has changed.
  case record(GatewayRecord)
  /// Something may be missing: load again what the app shows.
  case reset
  /// The stream ends, and a new one is opened.
  case end(EndReason)

  /// Why a stream ends.
  public enum EndReason: String, Sendable, Equatable {
    /// The token has expired: the next attempt needs another one.
    case expired
    /// The instance stops.
    case stopping
  }

  /// Reads an event of the stream. Nil for a name that this module does not know, or data that it cannot read: such events are of later services.
  public init?(_ event: EventStreamParser.Event) {
    let data = Data(event.data.utf8)
    switch event.name {
    case "reset": self = .reset
    case "end":
      guard let reason = (try? JSONDecoder().decode(End.self, from: data)).flatMap({ EndReason(rawValue: $0.reason) })
      else { return nil }
      self = .end(reason)
    default:
      guard let record = try? JSONDecoder().decode(GatewayRecord.self, from: data) else { return nil }
      self = .record(record)
    }
  }

  private struct End: Decodable {
    let reason: String
  }
}
