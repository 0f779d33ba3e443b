import HTTPServer
import PeerSockets

/// Checks of settings that name Kafka brokers.
public enum BrokerAddresses {
  /// What to write in place of a list of brokers, to complete "use …"; nil for a list that can be used.
  @Sendable public static func advice(for list: String) -> String? {
    do throws(BrokerList.Fault) {
      _ = try BrokerList(list)
      return nil
    } catch {
      return switch error {
      case .empty: "HOST:PORT, with commas between several"
      case .port(let part): "a port from 1 to 65535 in place of that of '\(PublicText.value(part))'"
      case .host(let part): "HOST:PORT in place of '\(PublicText.value(part))', which names no host"
      case .scheme(let part): "HOST:PORT without a protocol in place of '\(PublicText.value(part))'"
      }
    }
  }

  /// As `advice(for:)`, for a setting that may be absent.
  @Sendable public static func adviceIfPresent(for list: String?) -> String? { list.flatMap { advice(for: $0) } }
}

/// Checks of settings that name the admin ports of services.
public enum AdminAddresses {
  /// What to write in place of a list of addresses, to complete "use …"; nil for a list that can be used.
  @Sendable public static func advice(for list: [String]) -> String? {
    guard let wrong = list.first(where: { !HTTPServer.isAddress($0) || $0.hasSuffix(":0") }) else { return nil }
    return "HOST:PORT, such as 127.0.0.1:8080, with a port from 1 to 65535 in place of '\(PublicText.value(wrong))'"
  }
}
