/// Removes the secrets of URLs and headers from texts: for `--print-config`, logs, errors and support bundles.
///
/// A URL keeps its scheme, host and port, because the rest often contains a login or a token.
public enum PublicText {
  /// Replaces the removed part of a URL.
  private static let hidden = "…"

  /// A setting's value: one URL, or several separated by commas. Any other value stays unchanged.
  public static func value(_ text: String) -> String {
    let isURL = text.contains("://")
    guard isURL || text.contains("@") else { return text }
    // A login may contain commas, so a list with a login is treated as one unreadable URL.
    guard !text.contains("@") else { return origin(of: text) }
    return text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      part.contains("://") ? origin(of: String(part)) : String(part)
    }.joined(separator: ",")
  }

  /// `https://host:4318` of a URL; `https://…` if its host is ambiguous; `…` without a scheme.
  public static func origin(of url: String) -> String {
    guard let start = url.firstRange(of: "://") else { return hidden }
    let scheme = url[..<start.lowerBound]
    guard !scheme.isEmpty, scheme.utf8.allSatisfy(isNameByte) else { return hidden }
    let rest = url[start.upperBound...]
    let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
    var authority = rest[..<end]
    switch rest.count(where: { $0 == "@" }) {
    case 0: break
    case 1 where authority.contains("@"):
      authority = authority.split(separator: "@", omittingEmptySubsequences: false)[1]
    // Either a login with a slash, or a path with an @: the host is ambiguous.
    default: return "\(scheme)://\(hidden)"
    }
    return isHost(authority) ? "\(scheme)://\(authority)" : "\(scheme)://\(hidden)"
  }

  /// A line of a log or page, with origins in place of URLs and without the word after `Bearer` or `Basic`.
  public static func line(_ text: String) -> String {
    var shown = ""
    var rest = text[...]
    // JSON may escape a slash as `\/`.
    while let start = [rest.firstRange(of: "://"), rest.firstRange(of: #":\/\/"#)].compactMap({ $0 }).min(by: {
      $0.lowerBound < $1.lowerBound
    }) {
      let scheme = rest[..<start.lowerBound]
      let begin =
        scheme.lastIndex { !$0.utf8.allSatisfy(isNameByte) }.map { scheme.index(after: $0) } ?? scheme.startIndex
      let end = rest[start.upperBound...].firstIndex { "\"'<>".contains($0) || $0.isWhitespace } ?? rest.endIndex
      shown += rest[..<begin]
      shown += origin(of: String(rest[begin..<end]).replacing(#"\/"#, with: "/"))
      rest = rest[end...]
    }
    shown += rest
    return withoutCredentials(shown)
  }

  private static func withoutCredentials(_ text: String) -> String {
    var text = text
    for scheme in ["bearer ", "basic "] where text.lowercased().contains(scheme) {
      let words = text.split(separator: " ", omittingEmptySubsequences: false)
      text = zip(words, [""] + words.map(String.init)).map { word, before in
        let isCredential = before.lowercased().hasSuffix(scheme.dropLast()) && word.utf8.count >= 8
        return isCredential ? hidden : String(word)
      }.joined(separator: " ")
    }
    return text
  }

  /// A name or address, with or without a port.
  private static func isHost(_ text: Substring) -> Bool {
    var host = text
    if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      let port = text[text.index(after: colon)...]
      guard port.utf8.count <= 5, port.utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      return host.dropFirst().dropLast().utf8.allSatisfy { $0 == 58 || $0 == 46 || isHexadecimal($0) }
    }
    return !host.isEmpty && host.utf8.allSatisfy(isNameByte)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "-._+".utf8.contains(byte)
  }
}

/// The properties of librdkafka and of the token login whose values are not secret. Every other property is secret,
/// including those that later versions of librdkafka add.
enum PublicKafkaProperties {
  @Sendable static func isSecret(_ property: String) -> Bool { !names.contains(property) }

  private static let names = Set(
    """
    acks allow.auto.create.topics api.version.fallback.ms api.version.request api.version.request.timeout.ms auto.commit.enable
    auto.commit.interval.ms auto.offset.reset batch.num.messages batch.size bootstrap.servers broker.address.family
    broker.address.ttl broker.version.fallback builtin.features check.crcs client.dns.lookup client.id client.rack compression.codec
    compression.level compression.type connections.max.idle.ms consume.callback.max.messages coordinator.query.interval.ms debug
    delivery.report.only.error delivery.timeout.ms enable.auto.commit enable.auto.offset.store enable.gapless.guarantee
    enable.idempotence enable.metrics.push enable.partition.eof enable.random.seed enable.sasl.oauthbearer.unsecure.jwt
    enable.ssl.certificate.verification fetch.error.backoff.ms fetch.max.bytes fetch.message.max.bytes fetch.min.bytes
    fetch.queue.backoff.ms fetch.wait.max.ms group.id group.instance.id group.protocol group.protocol.type group.remote.assignor
    heartbeat.interval.ms https.ca.location internal.termination.signal isolation.level linger.ms log.connection.close log.queue
    log.thread.name log_level max.in.flight max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms
    message.copy.max.bytes message.max.bytes message.send.max.retries message.timeout.ms metadata.broker.list metadata.max.age.ms
    metadata.recovery.strategy offset.store.method offset.store.path offset.store.sync.interval.ms partition.assignment.strategy
    partitioner plugin.library.paths produce.offset.report queue.buffering.backpressure.threshold queue.buffering.max.kbytes
    queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages queuing.strategy
    receive.message.max.bytes reconnect.backoff.jitter.ms reconnect.backoff.max.ms reconnect.backoff.ms request.required.acks
    request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms sasl.kerberos.keytab sasl.kerberos.min.time.before.relogin
    sasl.kerberos.service.name sasl.mechanism sasl.mechanisms sasl.oauthbearer.method sasl.oauthbearer.token.endpoint.url
    security.protocol session.timeout.ms socket.blocking.max.ms socket.connection.setup.timeout.ms socket.keepalive.enable
    socket.max.fails socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms
    ssl.ca.certificate.stores ssl.ca.location ssl.certificate.location ssl.cipher.suites ssl.crl.location ssl.curves.list
    ssl.endpoint.identification.algorithm ssl.engine.id ssl.engine.location ssl.key.location ssl.keystore.location ssl.providers
    ssl.sigalgs.list statistics.interval.ms sticky.partitioning.linger.ms topic.blacklist topic.metadata.propagation.max.ms
    topic.metadata.refresh.fast.cnt topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms
    topic.metadata.refresh.sparse transaction.timeout.ms transactional.id
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}

/// Properties of librdkafka that `--kafka-property` must not set, because exactly-once depends on Nudge's own values.
enum ReservedKafkaProperties {
  private static let position = "a task starts at the position in its changelog"
  private static let commits = "offsets are committed in the transaction that holds the outputs"
  private static let assignment = "a task is the same partition of every input, which the range assignor keeps together"
  private static let idempotence = "a producer's own retries must not write a record twice"
  private static let partitions = "every reader computes a key's partition with murmur2"
  private static let offsets = "only the transaction of the thread that owns a task may move its offsets"

  /// The reason for each reserved property, by name. librdkafka's aliases are listed too.
  static let reasons: [String: String] = [
    "bootstrap.servers": "--bootstrap-servers names the brokers",
    "metadata.broker.list": "--bootstrap-servers names the brokers",
    "isolation.level": "inputs and restores must see committed records only",
    "group.id": "the stage names its consumer group, which fences former owners",
    "group.instance.id": "--instance names the static member",
    "group.protocol": "members need the classic protocol, in which a static member can leave its group",
    "group.remote.assignor": assignment,
    "partition.assignment.strategy": assignment,
    "enable.auto.commit": commits,
    "auto.commit.enable": commits,
    "auto.commit.interval.ms": commits,
    "enable.auto.offset.store": commits,
    "offset.store.method": offsets,
    "offset.store.path": offsets,
    "auto.offset.reset": position,
    "enable.partition.eof": "a restore ends where the changelog ends",
    "transactional.id": "--instance and the thread's number name the producer",
    "enable.idempotence": idempotence,
    "enable.gapless.guarantee": idempotence,
    "partitioner": partitions,
  ]

  /// What to do instead if a property is reserved, to complete "use …"; nil if none is.
  static func advice(for properties: [String: String]) -> String? {
    guard let name = properties.keys.sorted().first(where: { reasons[$0] != nil }), let reason = reasons[name] else {
      return nil
    }
    return "it without \(name): \(reason)"
  }
}
