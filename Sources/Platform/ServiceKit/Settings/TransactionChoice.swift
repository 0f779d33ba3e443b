/// Which of Kafka's transaction protocols a service uses.
public enum TransactionChoice: String, Sendable, CaseIterable, SettingValue {
  /// What the cluster has.
  case auto
  /// Version 2 (`transaction.version` 2), or none.
  case version2 = "2"
  /// Version 1, which every cluster has.
  case version1 = "1"
}
