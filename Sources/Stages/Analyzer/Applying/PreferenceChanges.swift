import NudgeCodec
import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// `preferences.updated`: each field it names is set, unless a later event set it already (D12).
  ///
  /// Throws a `Rejection` where a value cannot be used or kept; then none of the fields is set.
  mutating func change(_ patch: PreferencesPatch, zones: inout TimeZones) throws {
    try check(patch, zones: &zones)
    let before = try preferences()
    var row = before
    let stamp = cause.stamp
    set(\.enabled, patch.enabled)
    if case .set(let hours) = patch.quietHours { set(\.quietHours, .some(hours)) }
    set(\.maxAnalysesPerHour, patch.maxAnalysesPerHour)
    set(\.fallback, patch.fallback)
    set(\.muted, patch.muted)
    set(\.starredSenders, patch.starredSenders)
    set(\.keywords, patch.keywords)
    set(\.badgeMode, patch.badgeMode)
    set(\.showPreviews, patch.showPreviews)
    set(\.locale, patch.locale)
    set(\.learnSince, patch.learnSince)
    set(\.burstSeconds, patch.burstSeconds)
    set(\.directLevel, patch.defaultLevels?.direct)
    set(\.groupLevel, patch.defaultLevels?.group)
    set(
      \.conversationLevels,
      patch.conversationLevels?.map { KeyedLevel(conversation: MessageKey($0.conversationId), level: $0.level) })
    set(\.mutedSenders, patch.mutedSenders?.map { MessageKey($0) })
    if case .set(let times) = patch.digestTimes { set(\.digestTimes, .some(times)) }
    set(\.timeZone, patch.timeZone)
    if case .set(let alerts) = patch.dailyAlerts { set(\.dailyAlerts, .some(alerts)) }
    if row != before {
      guard row.packed().count <= StateLimits.maxRowBytes else {
        throw Rejection(.tooLarge, "the preferences together take more than \(StateLimits.maxRowBytes) bytes")
      }
      try step.set(.preferences(row), for: AnalyzerRow.preferencesKey(userId))
      try cancelUnwanted(row, was: before)
      try cancelUnwanted(by: patch, row, was: before)
      try moveCatchUp(row, was: before, zones: &zones)
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

  private func checkSize(_ value: (some Encodable)?, _ field: String, _ limit: Int) throws {
    guard let value else { return }
    let size = try step.coder.encode(value).count
    guard size <= limit else {
      throw Rejection(.tooLarge, "preferences.\(field) takes \(size) bytes; at most \(limit) can be kept")
    }
  }
}
