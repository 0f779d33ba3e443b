/// The largest values producers may send. The JSON Schemas in `Schemas/` repeat them; a test holds the two together.
///
/// "Characters" are Unicode code points, as in JSON Schema's `maxLength`; "bytes" are those of UTF-8, which JSON Schema
/// cannot count, so there it is `maxLength` (never stricter) and a description.
public enum SchemaLimits {
  /// Characters of `eventId`; at least 1.
  public static let eventIdCharacters = 128
  /// Bytes of any other id; at least 1.
  public static let idBytes = 256
  /// Bytes of FCM's registration token; at least 1. FCM names no limit; today's tokens have fewer than 300.
  public static let tokenBytes = 4_096
  /// Characters of a Web Push endpoint, all of ASCII; at least 1. Those of browsers have fewer than 500.
  public static let endpointCharacters = 2_048
  /// Characters of a subscription's public key: 65 bytes in base64url.
  public static let publicKeyCharacters = 87
  /// Characters of a subscription's secret: 16 bytes in base64url.
  public static let secretCharacters = 22
  /// Characters of a person's or a group's name, hence at most 1,024 bytes; at least 1.
  public static let nameCharacters = 256
  /// Bytes of a message's text.
  public static let textBytes = 65_536
  /// Bytes of a URL; at least 1.
  public static let urlBytes = 2_048
  /// Attachments of a message.
  public static let attachments = 32
  /// People a message names.
  public static let mentions = 1_000
  /// Members of a conversation in one record.
  public static let members = 20_000
  /// The first time there is: the epoch.
  public static let earliestTime: Milliseconds = 0
  /// The last time there is: the end of the year 9999, which is RFC 3339's.
  public static let latestTime: Milliseconds = 253_402_300_799_999
  /// Smart analyses a person may ask for in an hour.
  public static let analysesPerHour = 10_000
  /// Seconds after an alert in which a group's messages do not alert again.
  public static let burstSeconds = 3_600
  /// Bytes of a time zone's name; the longest of the IANA database has 32.
  public static let timeZoneBytes = 64
  /// Bytes of a locale; the longest that RFC 5646 (section 4.4.1) asks implementations to take has 35.
  public static let localeBytes = 64
  /// Characters of an app's version; at least 1.
  public static let appVersionCharacters = 64
  /// Characters of an FCM project's id or number; Google's ids have 6 to 30, those with a domain more.
  public static let projectIdCharacters = 128

  // A person's row of state holds the lists below among much else, and has 16 kB. Each list is bounded by itself,
  // because an update may bring one list only and the others stay: together they take 12 kB at most.

  /// Muted conversations.
  public static let muted = 100
  /// All muted conversations as JSON, in bytes.
  public static let mutedBytes = 7_500
  /// Starred senders.
  public static let starredSenders = 100
  /// All starred senders as JSON, in bytes.
  public static let starredSendersBytes = 2_500
  /// Keywords.
  public static let keywords = 50
  /// All keywords as JSON, in bytes.
  public static let keywordsBytes = 1_024
  /// Conversations with a level of their own. A row holds 9 bytes for each.
  public static let conversationLevels = 200
  /// Senders of whom nothing is shown in groups. A row holds 8 bytes for each.
  public static let mutedSenders = 100
  /// Times of the day at which a person catches up.
  public static let digestTimes = 12
  /// The most alerts in a day that a person may ask for.
  public static let dailyAlerts = 1_000
  /// Characters of one keyword; at least 1.
  public static let keywordCharacters = 64
}
