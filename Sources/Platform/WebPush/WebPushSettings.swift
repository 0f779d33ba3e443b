public import ServiceKit

/// Where subscriptions may lead. Ingest refuses others, and the dispatcher sends to no others: both want the same values.
public enum WebPushSettings {
  /// The hosts that are allowed.
  public static let hosts = Setting<[String]>(
    "web-push-hosts", default: [], placeholder: "HOST,…",
    help:
      "Hosts that subscriptions of Web Push may lead to: push.example.org, or *.example.org for all below it. They may have "
      + "private addresses. Default: every host at a public address. Give ingest and dispatcher the same value.",
    check: { hosts in
      hosts.allSatisfy(EndpointRules.isPattern) ? nil : "names of hosts, such as push.example.org or *.example.org"
    })

  /// Whether plain http and private addresses are allowed.
  public static let allowsPrivate = Setting<Bool>(
    "web-push-allow-private", default: false,
    help:
      "Subscriptions of Web Push may lead to private addresses, and to http: for tests and closed networks, as users of an app "
      + "choose these URLs. Give ingest and dispatcher the same value.")

  /// Both, in the order of the help.
  public static let all: [any AnySetting] = [hosts, allowsPrivate]

  /// The rules of the settings.
  public static func rules(_ values: SettingsValues) -> EndpointRules {
    EndpointRules(hosts: values[hosts], allowsPrivateAddresses: values[allowsPrivate])
  }
}
