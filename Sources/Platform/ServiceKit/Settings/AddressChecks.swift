import Foundation
import HTTPServer
import PeerSockets

/// Checks of settings that name Kafka brokers.
public enum BrokerAddresses {
  /// The advice that completes "use …" for a list of brokers that cannot be used; nil for one that can.
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
  /// The advice that completes "use …" for a list of addresses that cannot be used; nil for one that can.
  @Sendable public static func advice(for list: [String]) -> String? {
    guard let wrong = list.first(where: { !HTTPServer.isAddress($0) || $0.hasSuffix(":0") }) else { return nil }
    return "HOST:PORT, such as 127.0.0.1:8080, with a port from 1 to 65535 in place of '\(PublicText.value(wrong))'"
  }
}

/// Checks of settings that are URLs.
public enum WebAddresses {
  /// The check of a setting whose URL has this scheme, or that is absent: the advice that completes "use …".
  public static func check(_ scheme: String) -> @Sendable (String?) -> String? {
    { text in
      guard let text, !isUsable(text, [scheme]) else { return nil }
      return "an address that starts with \(scheme)://, with a host and a port from 1 to 65535"
    }
  }

  /// Whether a URL has one of these schemes, a host, and a port that can be connected to or none.
  static func isUsable(_ text: String, _ schemes: [String]) -> Bool {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else {
      return false
    }
    return url.host.map { !$0.isEmpty } ?? false && (1...65_535).contains(url.port ?? 1)
  }
}
