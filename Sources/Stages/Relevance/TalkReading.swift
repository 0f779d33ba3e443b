/// Computes features of a new message, and of each person that it may be for, from the stored messages.
///
/// One bit represents each stored message, the newest being bit 0. An age is the index of the lowest bit that is set. Creating a reading
/// takes one pass over the messages; each person then costs a few dozen operations on masks.
public struct TalkReading: Sendable {
  /// The people the new message addresses.
  public struct Addressed: Sendable {
    public var userId: String
    /// Whether the message begins with the name.
    public var isAtStart: Bool

    /// A person who is addressed.
    public init(userId: String, isAtStart: Bool) {
      self.userId = userId
      self.isAtStart = isAtStart
    }
  }

  /// Masks of one person of the talk.
  private struct Traces {
    /// Messages they wrote.
    var by: UInt64 = 0
    /// Messages that address them.
    var addressed: UInt64 = 0
    /// Messages most likely for them.
    var partner: UInt64 = 0
    /// How many others wrote later.
    var rank: UInt8 = 0
    /// Rare words shared with their last message, in eighths of a natural logarithm.
    var topic: UInt32 = 0
    /// 0 if the new message does not address them, 3 if it does within the text, 4 at its beginning.
    var addressedNow: UInt8 = 0
  }

  private static let none = UInt64(RecentTalk.capacity)

  private let talk: RecentTalk
  private let text: TextTraits
  private let time: Int64
  private var traces: [Traces]
  private let sender: Int?
  private let senderAge: UInt64
  /// Messages after the sender's last.
  private let sinceSender: UInt64
  private var addressing: UInt64 = 0
  /// For each word of the text: the messages that contain it, and its weight.
  private var wordMasks: [(mask: UInt64, weight: UInt32)] = []
  private var topics: [UInt32] = []
  private let addressedCount: Int
  private let addressesAtStart: Bool
  /// The two best ages of messages from other people to the sender, after the sender's last one; and from the sender to them.
  private var bestToSender: (first: UInt64, second: UInt64) = (none, none)
  private var bestFromSender: (first: UInt64, second: UInt64) = (none, none)
  /// How many people wrote, without the sender.
  private var otherSpeakers = 0
  /// How often others addressed the sender since the sender's last message.
  private var addressedSenderSince = 0

  /// Reads the talk for a message.
  public init(
    _ talk: RecentTalk, sender senderId: String, at time: Int64, text: TextTraits, addressed: [Addressed]
  ) {
    self.talk = talk
    self.text = text
    self.time = time
    sender = talk.place(of: senderId)
    traces = [Traces](repeating: Traces(), count: talk.people.count)
    addressedCount = addressed.count
    addressesAtStart = addressed.contains { $0.isAtStart }

    let count = talk.messages.count
    for age in 0..<count {
      let message = talk.messages[count - 1 - age]
      let bit: UInt64 = 1 << UInt64(age)
      let writer = Int(message.sender)
      if traces[writer].by == 0, writer != sender {
        traces[writer].rank = UInt8(clamping: otherSpeakers)
        otherSpeakers += 1
      }
      traces[writer].by |= bit
      if message.addressed[0] != RememberedMessage.nobody {
        addressing |= bit
        for place in 0..<RememberedMessage.maxAddressed {
          let person = message.addressed[place]
          if person == RememberedMessage.nobody { break }
          traces[Int(person)].addressed |= bit
        }
      }
      if message.partner != RememberedMessage.nobody { traces[Int(message.partner)].partner |= bit }
    }
    for mask in WordSearch(text.words).masks(in: talk.messages) where mask != 0 {
      wordMasks.append((mask, Self.logarithms[count + 1] - Self.logarithms[mask.nonzeroBitCount]))
    }

    let senderTraces = if let sender { traces[sender] } else { Traces() }
    senderAge = Self.age(senderTraces.by)
    sinceSender = senderTraces.by == 0 ? ~0 : (senderTraces.by & (0 &- senderTraces.by)) &- 1
    addressedSenderSince = (senderTraces.addressed & sinceSender).nonzeroBitCount

    for person in addressed {
      if let place = talk.place(of: person.userId) { traces[place].addressedNow = person.isAtStart ? 4 : 3 }
    }
    for place in traces.indices where place != sender && traces[place].by != 0 {
      let last = Self.age(traces[place].by)
      var topic: UInt32 = 0
      for (mask, weight) in wordMasks where mask >> last & 1 == 1 { topic += weight }
      traces[place].topic = topic
      if topic > 0 { topics.append(topic) }
      Self.record(Self.age(traces[place].by & senderTraces.partner & sinceSender), in: &bestToSender)
      Self.record(Self.age(traces[place].partner & senderTraces.by), in: &bestFromSender)
    }
  }

  /// The number of people who wrote the stored messages, including the sender of the new one.
  public var activeSpeakers: Int { otherSpeakers + 1 }

  /// The likely recipient of a message that addresses nobody: the person who last wrote to the sender after the sender's last message. If
  /// there is none, the recipient of that last message, provided that it is one of the last 20.
  public var continuedPartner: String? {
    guard let sender else { return nil }
    let mine = traces[sender]
    let toSender = mine.partner & sinceSender
    if toSender != 0 { return talk.people[Int(message(atAge: Self.age(toSender)).sender)] }
    guard senderAge < 20 else { return nil }
    let partner = message(atAge: senderAge).partner
    return partner == RememberedMessage.nobody ? nil : talk.people[Int(partner)]
  }

  /// The message's features.
  public var messageFeatures: [UInt8] {
    var features = [UInt8](repeating: 0, count: FeatureLayout.messageCount)
    func set(_ feature: MessageFeature, _ value: some BinaryInteger) {
      features[feature.rawValue] = UInt8(clamping: value)
    }
    set(.layout, FeatureLayout.version)
    set(.addressedCount, addressedCount)
    set(.length, Self.steps(Int(text.length)))
    set(.question, text.isQuestion ? 1 : 0)
    let count = talk.messages.count
    set(.senderAge, senderAge)
    set(.senderMinutes, Self.steps(minutes: Self.none == senderAge ? nil : message(atAge: senderAge).at, at: time))
    if let sender {
      let by = traces[sender].by
      set(.senderCount, by.nonzeroBitCount)
      set(.senderFirstAge, by == 0 ? 64 : 63 - by.leadingZeroBitCount)
      if by != 0 {
        let last = message(atAge: senderAge)
        set(.senderAsked, last.isQuestion ? 1 : 0)
        set(.senderLength, Self.steps(Int(last.length)))
        var topic: UInt32 = 0
        for (mask, weight) in wordMasks where mask >> senderAge & 1 == 1 { topic += weight }
        set(.senderTopic, topic)
      }
      set(.senderPartners, traces.indices.count { traces[$0].addressed & by != 0 })
    } else {
      set(.senderFirstAge, 64)
    }
    set(.addressingRate, count == 0 ? 0 : addressing.nonzeroBitCount * 64 / count)
    set(.speakers, activeSpeakers)
    set(.span, Self.steps(minutes: talk.messages.first?.at, at: time))
    set(.pause, Self.steps(minutes: talk.messages.last?.at, at: time))
    return features
  }

  /// Features of a person who neither wrote nor was addressed in the stored messages.
  ///
  /// - Parameter addressed: Whether the new message addresses the person; with `isAtStart`, at its beginning.
  public static func absentFeatures(
    addressed: Bool, isAtStart: Bool, othersAddressed: Bool, othersAtStart: Bool
  ) -> [UInt8] {
    var features = [UInt8](repeating: 0, count: FeatureLayout.personCount)
    features[PersonFeature.addressed.rawValue] =
      addressed ? (isAtStart ? 4 : 3) : othersAddressed ? (othersAtStart ? 2 : 1) : 0
    for feature in [
      PersonFeature.age, .firstAge, .senderAddressedAge, .addressedSenderAge, .partnerAge, .senderPartnerAge,
      .othersSenderPartnerAge, .othersPartnerAge, .rank,
    ] {
      features[feature.rawValue] = 64
    }
    features[PersonFeature.minutes.rawValue] = UInt8(Self.maxSteps)
    features[PersonFeature.ageDifference.rawValue] = 128
    return features
  }

  /// All features if only one thing is known: whether the message addresses the person.
  public static func featuresOfNothing(addressed: Bool) -> [UInt8] {
    TalkReading(RecentTalk(), sender: "", at: 0, text: TextTraits(), addressed: []).messageFeatures
      + absentFeatures(addressed: addressed, isAtStart: addressed, othersAddressed: false, othersAtStart: false)
  }

  /// A person's features; nil if the stored messages contain nothing about them.
  public func personFeatures(of userId: String) -> [UInt8]? {
    talk.place(of: userId).flatMap { hasTraces(of: $0) ? personFeatures(at: $0) : nil }
  }

  /// Features of the person at an index of `RecentTalk.people`.
  public func personFeatures(at place: Int) -> [UInt8] {
    var features = [UInt8](repeating: 0, count: FeatureLayout.personCount)
    func set(_ feature: PersonFeature, _ value: some BinaryInteger) {
      features[feature.rawValue] = UInt8(clamping: value)
    }
    let person = traces[place]
    let mine = sender.map { traces[$0] } ?? Traces()
    let age = Self.age(person.by)
    let since: UInt64 = person.by == 0 ? ~0 : (person.by & (0 &- person.by)) &- 1
    set(
      .addressed, person.addressedNow > 0 ? person.addressedNow : addressedCount > 0 ? (addressesAtStart ? 2 : 1) : 0)
    set(.rank, person.by == 0 ? 64 : person.rank)
    set(.age, age)
    set(.count, person.by.nonzeroBitCount)
    set(.firstAge, person.by == 0 ? 64 : 63 - person.by.leadingZeroBitCount)
    set(.sinceSender, (person.by & sinceSender).nonzeroBitCount)
    set(.ageDifference, 64 + Int(age) - Int(senderAge))
    if person.by == 0 {
      set(.minutes, Self.maxSteps)
    } else {
      let last = message(atAge: age)
      set(.minutes, Self.steps(minutes: last.at, at: time))
      set(.asked, last.isQuestion ? 1 : 0)
      set(.length, Self.steps(Int(last.length)))
      let bit: UInt64 = 1 << age
      set(.lastAddressed, mine.addressed & bit != 0 ? 1 : addressing & bit != 0 ? 2 : 0)
      set(.lastPartner, last.partner == RememberedMessage.nobody ? 0 : Int(last.partner) == sender ? 1 : 2)
    }
    let fromSender = mine.by & person.addressed
    let toSender = person.by & mine.addressed
    set(.senderAddressedAge, Self.age(fromSender))
    set(.senderAddressedCount, fromSender.nonzeroBitCount)
    set(.addressedSenderAge, Self.age(toSender))
    set(.addressedSenderCount, toSender.nonzeroBitCount)
    let toSenderSince = (toSender & sinceSender).nonzeroBitCount
    set(.addressedSenderSince, toSenderSince)
    set(.othersAddressedSenderSince, addressedSenderSince - toSenderSince)
    set(.addressedOthersCount, (person.by & addressing & ~mine.addressed).nonzeroBitCount)
    let fromOthers = person.addressed & ~mine.by
    set(.othersAddressedCount, fromOthers.nonzeroBitCount)
    set(.othersAddressedSince, (fromOthers & since).nonzeroBitCount)
    if fromOthers != 0 { set(.addressers, traces.count { $0.by & fromOthers != 0 }) }
    if senderAge < Self.none {
      let bit: UInt64 = 1 << senderAge
      set(.senderLastAddressed, person.addressed & bit != 0 ? 1 : addressing & bit != 0 ? 2 : 0)
      let partner = message(atAge: senderAge).partner
      set(.senderLastPartner, partner == RememberedMessage.nobody ? 0 : Int(partner) == place ? 1 : 2)
    }
    set(.turns, (mine.by & person.by >> 1).nonzeroBitCount + (person.by & mine.by >> 1).nonzeroBitCount)
    let partnerAge = Self.age(mine.by & person.partner)
    let senderPartner = person.by & mine.partner
    set(.partnerAge, partnerAge)
    set(.senderPartnerAge, Self.age(senderPartner))
    set(.othersPartnerAge, bestFromSender.first == partnerAge ? bestFromSender.second : bestFromSender.first)
    let senderPartnerSince = Self.age(senderPartner & sinceSender)
    set(
      .othersSenderPartnerAge, bestToSender.first == senderPartnerSince ? bestToSender.second : bestToSender.first)
    set(.answersSince, (person.partner & since & ~mine.by).nonzeroBitCount)
    set(.topic, person.topic)
    var all: UInt32 = 0
    for (mask, weight) in wordMasks where mask & person.by != 0 { all += weight }
    set(.topicAll, all)
    set(.topicRank, topics.count { $0 > person.topic })
    return features
  }

  /// Whether the remembered messages tell anything of the person at a place: one that is only remembered by name is not
  /// forgotten yet.
  public func hasTraces(of place: Int) -> Bool {
    let person = traces[place]
    return person.by | person.addressed | person.partner != 0
  }

  /// How often the two wrote or addressed each other in direct succession, including the new message.
  public func exchange(at place: Int, isAddressed: Bool) -> Int {
    let person = traces[place]
    let mine = sender.map { traces[$0] } ?? Traces()
    let turns =
      (mine.by & (person.by >> 1 | person.addressed)).nonzeroBitCount
      + (person.by & (mine.by >> 1 | mine.addressed)).nonzeroBitCount
    return turns + (isAddressed || person.by & 1 == 1 ? 1 : 0)
  }

  /// When the person at an index last wrote, and how many messages followed; nil if no message of theirs is stored.
  public func lastSpoke(at place: Int) -> (time: Int64, messagesSince: Int)? {
    let age = Self.age(traces[place].by)
    return age == Self.none ? nil : (message(atAge: age).at, Int(age))
  }

  private func message(atAge age: UInt64) -> RememberedMessage { talk.messages[talk.messages.count - 1 - Int(age)] }

  private static func age(_ mask: UInt64) -> UInt64 { UInt64(mask.trailingZeroBitCount) }

  private static func record(_ age: UInt64, in best: inout (first: UInt64, second: UInt64)) {
    if age < best.first {
      best = (age, best.first)
    } else if age < best.second {
      best.second = age
    }
  }

  // MARK: Steps

  static let maxSteps = 60

  /// A number in steps of a half power of two: 0, 1, 2 for 0, 1, 2; then two steps for each doubling.
  static func steps(_ number: Int) -> Int {
    guard number > 2 else { return max(0, number) }
    let power = Int.bitWidth - 1 - number.leadingZeroBitCount
    // Whether it is at least 1.5 times the power.
    let half = number >> (power - 1) & 1
    return min(maxSteps, 2 * power + half)
  }

  /// The minutes between two times in steps. They are whole minutes of the clock, because the model was trained on logs without seconds.
  static func steps(minutes since: Int64?, at time: Int64) -> Int {
    guard let since else { return maxSteps }
    return steps(Int(max(0, minute(time) - minute(since))))
  }

  private static func minute(_ time: Int64) -> Int64 { time / 60_000 }

  /// 8 × ln(n), rounded so that every machine has the same values; 0 for 0.
  private static let logarithms: [UInt32] = [
    0, 0, 6, 9, 11, 13, 14, 16, 17, 18, 18, 19, 20, 21, 21, 22, 22, 23, 23, 24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27,
    27, 27, 28, 28, 28, 28, 29, 29, 29, 29, 30, 30, 30, 30, 30, 30, 31, 31, 31, 31, 31, 31, 32, 32, 32, 32, 32, 32, 32,
    33, 33, 33, 33, 33, 33, 33,
  ]
}
