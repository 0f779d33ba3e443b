/// The features of a message, which all of its recipients share. Each takes one byte, at the index of its raw value.
public enum MessageFeature: Int, CaseIterable, Sendable {
  /// `FeatureLayout.version`.
  case layout
  /// How many people the message addresses.
  case addressedCount
  /// The text's length, in steps of a half power of two.
  case length
  /// Whether it asks something.
  case question
  /// Messages since the sender's last one; 64 if none is stored.
  case senderAge
  /// Minutes since the sender's last message, in steps.
  case senderMinutes
  /// Stored messages of the sender.
  case senderCount
  /// Messages since the sender's first stored one.
  case senderFirstAge
  /// Whether the sender's last message asked something.
  case senderAsked
  /// The length of the sender's last message, in steps.
  case senderLength
  /// How many different people the sender addressed.
  case senderPartners
  /// Rare words shared with the sender's last message.
  case senderTopic
  /// How many of the stored messages address somebody, in 64ths.
  case addressingRate
  /// How many different people wrote.
  case speakers
  /// Minutes that the stored messages span, in steps.
  case span
  /// Minutes since the last message, in steps.
  case pause
}

/// The features of one recipient in the messages before. Each takes one byte, at the index of its raw value.
///
/// "Since" counts the messages after another one. An age of 64 means that there is none.
public enum PersonFeature: Int, CaseIterable, Sendable {
  /// 0: the message addresses nobody; 1: others, within the text; 2: others, at its beginning; 3: the person, within the text; 4: the
  /// person, at its beginning.
  case addressed
  /// How many people, other than the sender, wrote after the person's last message.
  case rank
  /// Messages since the person's last.
  case age
  /// Minutes since the person's last message, in steps.
  case minutes
  /// Messages of the person.
  case count
  /// Messages since the person's first.
  case firstAge
  /// Whether the person's last message asked something.
  case asked
  /// The length of the person's last message, in steps.
  case length
  /// Messages of the person since the sender's last.
  case sinceSender
  /// The person's age minus the sender's, plus 64.
  case ageDifference
  /// Messages since the sender addressed the person.
  case senderAddressedAge
  /// How often the sender addressed the person.
  case senderAddressedCount
  /// Messages since the person addressed the sender.
  case addressedSenderAge
  /// How often the person addressed the sender.
  case addressedSenderCount
  /// How often the person addressed the sender since the sender's last message.
  case addressedSenderSince
  /// How often others addressed the sender since the sender's last message.
  case othersAddressedSenderSince
  /// The addressee of the person's last message: 0 nobody, 1 the sender, 2 others.
  case lastAddressed
  /// How often the person addressed people other than the sender.
  case addressedOthersCount
  /// How often others addressed the person.
  case othersAddressedCount
  /// How often others addressed the person since the person's last message.
  case othersAddressedSince
  /// How many different people addressed the person.
  case addressers
  /// The addressee of the sender's last message: 0 nobody, 1 the person, 2 others.
  case senderLastAddressed
  /// How often sender and person wrote directly one after the other.
  case turns
  /// Messages since one of the sender's whose most likely recipient was the person.
  case partnerAge
  /// Messages since one of the person's whose most likely recipient was the sender.
  case senderPartnerAge
  /// The most likely recipient of the sender's last message: 0 nobody, 1 the person, 2 others.
  case senderLastPartner
  /// The most likely recipient of the person's last message: 0 nobody, 1 the sender, 2 others.
  case lastPartner
  /// As `senderPartnerAge`, but the best of the other people, since the sender's last message.
  case othersSenderPartnerAge
  /// As `partnerAge`, but the best of the other people.
  case othersPartnerAge
  /// Messages of others whose most likely recipient was the person, since the person's last one.
  case answersSince
  /// Rare words shared with the person's last message.
  case topic
  /// Rare words shared with any of the person's messages.
  case topicAll
  /// How many others share more rare words with their last messages.
  case topicRank
}

/// The order of features in a model's input: those of the message, then those of the person.
public enum FeatureLayout {
  /// Changes whenever the meaning of a feature changes. Features of another version are not used.
  public static let version: UInt8 = 1
  /// Bytes of the message's features.
  public static let messageCount = MessageFeature.allCases.count
  /// Bytes of a person's features.
  public static let personCount = PersonFeature.allCases.count
  /// Names of all features, in order.
  public static let names =
    MessageFeature.allCases.map { "message.\($0)" } + PersonFeature.allCases.map { "person.\($0)" }
}

/// Bytes as text, in the standard alphabet of RFC 4648 with padding.
public enum Base64Text {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// The text of some bytes.
  public static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
      var place = 0
      var index = 0
      while index < bytes.count {
        let left = bytes.count - index
        let group =
          UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
          | (left > 2 ? UInt32(bytes[index + 2]) : 0)
        text[place] = digits[Int(group >> 18)]
        text[place + 1] = digits[Int(group >> 12 & 63)]
        text[place + 2] = left > 1 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
        text[place + 3] = left > 2 ? digits[Int(group & 63)] : UInt8(ascii: "=")
        place += 4
        index += 3
      }
      return place
    }
  }

  /// The bytes of a text; nil if `encode` cannot have written it.
  public static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    var padding = 0
    for digit in text.utf8 {
      if digit == UInt8(ascii: "=") {
        padding += 1
        group <<= 6
      } else {
        let value = values[Int(digit)]
        guard value < 64, padding == 0 else { return nil }
        group = group << 6 | UInt32(value)
      }
      count += 1
      if count == 4 {
        guard padding <= 2 else { return nil }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        if padding < 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 8)) }
        if padding < 1 { bytes.append(UInt8(truncatingIfNeeded: group)) }
        group = 0
        count = 0
      }
    }
    return count == 0 ? bytes : nil
  }
}
