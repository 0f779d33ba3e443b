import NudgeCodec
import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// `preferences.updated`: sets each field that it names, unless a later event has already set it (D12).
  ///
  /// Throws a `Rejection` if a value cannot be used or is too large. Then no field is set.
  mutating func change(_ patch: PreferencesPatch, zones: inout TimeZones) throws {
    try check(patch, zones: &zones)
    let before = try preferences()
    var row = before
    let stamp = cause.stamp
    set(\.enabled, patch.enabled)
    if case .set(let hours) = patch.quietHours { set(\.quietHours, .some(hours)) }
    set(\.maxAnalysesPerHour, patch.maxAnalysesPerHour)
    set(\.fallback, patch.fallback)
    set(\.badgeMode, patch.badgeMode)
    set(\.showPreviews, patch.showPreviews)
    set(\.locale, patch.locale)
    set(\.learnSince, patch.learnSince)
    set(\.burstSeconds, patch.burstSeconds)
    set(\.directLevel, patch.defaultLevels?.direct)
    set(\.groupLevel, patch.defaultLevels?.group)
    if case .set(let times) = patch.digestTimes { set(\.digestTimes, .some(times)) }
    set(\.timeZone, patch.timeZone)
    if case .set(let alerts) = patch.dailyAlerts { set(\.dailyAlerts, .some(alerts)) }
    row.changeLists(patch, at: cause.happenedAt, by: stamp)
    if row != before {
      if patch.changes != ListChanges() { try checkLists(row) }
      guard row.packed().count <= StateLimits.maxRowBytes else {
        throw Rejection(.tooLarge, "the preferences together take more than \(StateLimits.maxRowBytes) bytes")
      }
      try step.set(.preferences(row), for: AnalyzerRow.preferencesKey(userId))
      try cancelUnwanted(row, was: before)
      try cancelUnwanted(by: patch, row, was: before)
      try moveCatchUp(row, was: before, zones: &zones)
      try moveEscalations(row, was: before, zones: &zones)
    }
    if row.learnSince != before.learnSince, let since = row.learnSince?.value {
      var learned = try learned()
      learned.forget(upTo: since)
      try keep(learned)
    }

    func set<Value>(_ field: WritableKeyPath<PreferencesRow, Stamped<Value>?>, _ value: Value?) {
      guard let value else { return }
      if let current = row[keyPath: field], stamp <= current.stamp { return }
      row[keyPath: field] = Stamped(value: value, stamp: stamp)
    }
  }

  private func check(_ patch: PreferencesPatch, zones: inout TimeZones) throws {
    if case .set(let hours?) = patch.quietHours {
      guard QuietSpan(hours) != nil else {
        throw Rejection(.schemaViolation, "preferences.quietHours: start and end must be HH:MM, 00:00 to 23:59")
      }
      if let name = hours.timeZone {
        guard name.utf8.count <= PreferencesRow.maxNameBytes, zones.zone(named: name) != nil else {
          throw Rejection(.schemaViolation, "preferences.quietHours.timeZone is no IANA time zone known here")
        }
      }
    }
    if let name = patch.timeZone {
      guard name.utf8.count <= PreferencesRow.maxNameBytes, zones.zone(named: name) != nil else {
        throw Rejection(.schemaViolation, "preferences.timeZone is no IANA time zone known here")
      }
    }
    if case .set(let times?) = patch.digestTimes {
      guard times.count <= SchemaLimits.digestTimes, times.allSatisfy({ QuietSpan.minutes($0) != nil }) else {
        throw Rejection(
          .schemaViolation,
          "preferences.digestTimes: at most \(SchemaLimits.digestTimes) times as HH:MM, 00:00 to 23:59")
      }
    }
    if case .set(let alerts?) = patch.dailyAlerts, !(0...SchemaLimits.dailyAlerts).contains(alerts) {
      throw Rejection(
        .schemaViolation, "preferences.dailyAlerts is \(alerts); it must be from 0 to \(SchemaLimits.dailyAlerts)")
    }
    if let limit = patch.maxAnalysesPerHour, limit < 0 {
      throw Rejection(.schemaViolation, "preferences.maxAnalysesPerHour is \(limit); it must be 0 or more")
    }
    if let seconds = patch.burstSeconds, !(0...SchemaLimits.burstSeconds).contains(seconds) {
      throw Rejection(
        .schemaViolation, "preferences.burstSeconds is \(seconds); it must be from 0 to \(SchemaLimits.burstSeconds)")
    }
    if let count = patch.conversationLevels?.count, count > SchemaLimits.conversationLevels {
      throw Rejection(
        .tooLarge,
        "preferences.conversationLevels has \(count) entries; at most \(SchemaLimits.conversationLevels) can be kept")
    }
    if let count = patch.mutedSenders?.count, count > SchemaLimits.mutedSenders {
      throw Rejection(
        .tooLarge, "preferences.mutedSenders has \(count) entries; at most \(SchemaLimits.mutedSenders) can be kept")
    }
    try checkSize(patch.muted, "muted", PreferencesRow.maxMutedBytes)
    try checkSize(patch.starredSenders, "starredSenders", PreferencesRow.maxStarredBytes)
    try checkSize(patch.keywords, "keywords", PreferencesRow.maxKeywordBytes)
    if let locale = patch.locale, locale.utf8.count > PreferencesRow.maxNameBytes {
      throw Rejection(.tooLarge, "preferences.locale is longer than \(PreferencesRow.maxNameBytes) bytes")
    }
  }

  /// Checks the resulting lists. Each event's list may be short enough, but the changes together too long.
  private func checkLists(_ row: PreferencesRow) throws {
    let counts = [
      ("muted", row.muted?.value.count, SchemaLimits.muted),
      ("starredSenders", row.starredSenders?.value.count, SchemaLimits.starredSenders),
      ("keywords", row.keywords?.value.count, SchemaLimits.keywords),
      ("conversationLevels", row.conversationLevels?.value.count, SchemaLimits.conversationLevels),
      ("mutedSenders", row.mutedSenders?.value.count, SchemaLimits.mutedSenders),
    ]
    for (field, count, limit) in counts where count ?? 0 > limit {
      throw Rejection(.tooLarge, "preferences.\(field) would have \(count ?? 0) entries; at most \(limit) can be kept")
    }
    try checkSize(row.muted?.value, "muted", PreferencesRow.maxMutedBytes)
    try checkSize(row.starredSenders?.value, "starredSenders", PreferencesRow.maxStarredBytes)
    try checkSize(row.keywords?.value, "keywords", PreferencesRow.maxKeywordBytes)
  }

  private func checkSize(_ value: (some Encodable)?, _ field: String, _ limit: Int) throws {
    guard let value else { return }
    let size = try step.coder.encode(value).count
    guard size <= limit else {
      throw Rejection(.tooLarge, "preferences.\(field) takes \(size) bytes; at most \(limit) can be kept")
    }
  }
}

extension PreferencesRow {
  private static let mutedList = ListedPreference<MutedConversation>(list: .muted, field: \.muted) {
    MessageKey($0.conversationId)
  }
  private static let starredList = ListedPreference<String>(list: .starredSenders, field: \.starredSenders) {
    MessageKey($0)
  }
  private static let keywordList = ListedPreference<String>(list: .keywords, field: \.keywords) {
    PreferencesRow.keywordKey($0)
  }
  private static let levelList = ListedPreference<KeyedLevel>(list: .conversationLevels, field: \.conversationLevels) {
    $0.conversation
  }
  private static let mutedSenderList = ListedPreference<MessageKey>(list: .mutedSenders, field: \.mutedSenders) { $0 }

  /// Case does not matter in keywords, as it does not in texts.
  private static func keywordKey(_ word: String) -> MessageKey { MessageKey(word.lowercased()) }

  /// Sets lists, or changes their elements.
  fileprivate mutating func changeLists(_ patch: PreferencesPatch, at time: Milliseconds, by stamp: EventStamp) {
    func keyed(_ level: ConversationLevel) -> KeyedLevel {
      KeyedLevel(conversation: MessageKey(level.conversationId), level: level.level)
    }
    let changes = patch.changes
    apply(patch.muted, changes.muted, Self.mutedList, by: stamp) { $0 }
    apply(patch.starredSenders, changes.starredSenders, Self.starredList, by: stamp) { $0 }
    apply(patch.keywords, changes.keywords, Self.keywordList, Self.keywordKey, by: stamp) { $0 }
    apply(patch.conversationLevels, changes.conversationLevels, Self.levelList, by: stamp) { keyed($0) }
    apply(patch.mutedSenders, changes.mutedSenders, Self.mutedSenderList, by: stamp) { MessageKey($0) }
    // Removes mutes that have ended, because they would accumulate.
    if changes.muted != nil { muted?.value.removeAll { $0.until.map { $0 <= time } ?? false } }
  }

  private mutating func apply<Given, Element>(
    _ whole: [Given]?, _ change: ListChange<Given>?, _ preference: ListedPreference<Element>,
    _ key: (String) -> MessageKey = { MessageKey($0) }, by stamp: EventStamp, _ element: (Given) -> Element
  ) {
    if let whole { set(whole.map(element), preference, by: stamp) }
    for id in change?.remove ?? [] { self.change(key(id), to: nil, preference, by: stamp) }
    for given in change?.add ?? [] {
      let element = element(given)
      self.change(preference.key(element), to: element, preference, by: stamp)
    }
  }
}
