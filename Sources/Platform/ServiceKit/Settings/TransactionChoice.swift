/// Which of Kafka's transaction protocols a service uses.
public enum TransactionChoice: String, Sendable, CaseIterable, SettingValue {
  /// The cluster's version.
  case auto
  /// Version 2 (`transaction.version` 2), or none.
  case version2 = "2"
  /// Version 1, which every cluster has.
  case version1 = "1"
}
