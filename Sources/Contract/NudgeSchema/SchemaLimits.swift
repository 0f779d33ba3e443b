/// The largest values that producers may send. The JSON Schemas in `Schemas/` repeat them, and a test compares the two.
///
/// "Characters" are Unicode code points, as in JSON Schema's `maxLength`. "Bytes" are bytes of UTF-8, which JSON Schema
/// cannot count: there `maxLength` has the same number, which is never stricter, and the description says that it means
/// bytes.
public enum SchemaLimits {
  /// Characters of `eventId`; at least 1.
  public static let eventIdCharacters = 128
  /// Bytes of any other id; at least 1.
  public static let idBytes = 256
  /// Bytes of FCM's registration token; at least 1. FCM names no limit; today's tokens have fewer than 300.
  public static let tokenBytes = 4_096
  /// ASCII characters of a Web Push endpoint; at least 1. Those of browsers have fewer than 500.
  public static let endpointCharacters = 2_048
  /// Characters of a subscription's public key: 65 bytes in base64url.
  public static let publicKeyCharacters = 87
  /// Characters of a subscription's secret: 16 bytes in base64url.
  public static let secretCharacters = 22
  /// Characters of a person's or a group's name, which take at most 1,024 bytes; at least 1.
  public static let nameCharacters = 256
  /// Bytes of a message's text.
  public static let textBytes = 65_536
  /// Bytes of a URL; at least 1.
  public static let urlBytes = 2_048
  /// Attachments of a message.
  public static let attachments = 32
  /// People that a message mentions.
  public static let mentions = 1_000
  /// Members of a conversation in one record.
  public static let members = 20_000
  /// The earliest time: the epoch.
  public static let earliestTime: Milliseconds = 0
  /// The latest time: the end of the year 9999, as in RFC 3339.
  public static let latestTime: Milliseconds = 253_402_300_799_999
  /// Smart analyses per hour that a person may ask for.
  public static let analysesPerHour = 10_000
  /// The longest burst in seconds: after an alert, a group's messages do not alert again for this long.
  public static let burstSeconds = 3_600
  /// Bytes of a time zone's name; the longest of the IANA database has 32.
  public static let timeZoneBytes = 64
  /// Bytes of a locale. The longest that RFC 5646 (section 4.4.1) asks implementations to accept has 35.
  public static let localeBytes = 64
  /// Characters of an app's version; at least 1.
  public static let appVersionCharacters = 64
  /// Characters of an FCM project's id or number. Google's ids have 6 to 30; those with a domain are longer.
  public static let projectIdCharacters = 128

  // A person's row of state is limited to 16 kB. It contains the following lists and much else. Each list has its own
  // limit, because an update may bring one list while the others stay. Together they take at most 12 kB.

  /// Muted conversations.
  public static let muted = 100
  /// Bytes of all muted conversations as JSON.
  public static let mutedBytes = 7_500
  /// Starred senders.
  public static let starredSenders = 100
  /// Bytes of all starred senders as JSON.
  public static let starredSendersBytes = 2_500
  /// Keywords.
  public static let keywords = 50
  /// Bytes of all keywords as JSON.
  public static let keywordsBytes = 1_024
  /// Conversations with a level of their own. A row holds 9 bytes for each.
  public static let conversationLevels = 200
  /// Senders whose messages are neither shown nor counted. A row holds 8 bytes for each.
  public static let mutedSenders = 100
  /// Times of the day at which a person catches up.
  public static let digestTimes = 12
  /// The most alerts per day that a person may ask for.
  public static let dailyAlerts = 1_000
  /// Characters of one keyword; at least 1.
  public static let keywordCharacters = 64
}
