import Foundation
import ServiceKit

/// The rules for the webhook's URL. Where the name leads is checked with each connection, because it may change.
enum WebhookAddress {
  /// - Parameter allowsPrivate: names of this host and of the own network are allowed.
  /// - Throws: `SettingsError`, which says what is wrong with it.
  static func check(_ text: String, allowsPrivate: Bool) throws(SettingsError) {
    if let fault = fault(of: text, allowsPrivate: allowsPrivate) {
      throw SettingsError("--escalation-url: \(fault); a URL such as https://pager.example.com/nudge is expected")
    }
  }

  private static func fault(of text: String, allowsPrivate: Bool) -> String? {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
      let url = URLComponents(string: text), let host = url.host, !host.isEmpty
    else { return "it is no URL" }
    guard url.scheme?.lowercased() == "https" else { return "only https is allowed" }
    guard url.user == nil, url.password == nil else { return "it must not hold a user or password" }
    guard url.fragment == nil else { return "it must not have a fragment" }
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0)
              || (0x61...0x7A).contains($0)
          }
      }), let last = labels.last
    else { return "its host is no name" }
    // Resolvers take 127.1, 2130706433 and 0x7f000001 for addresses.
    if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") {
      return "its host is an address; a name is needed"
    }
    if !allowsPrivate {
      if last == "localhost" { return "it is this host" }
      if labels.count == 1 { return "its host is a name of the own network (--escalation-allow-private allows it)" }
    }
    return nil
  }
}
