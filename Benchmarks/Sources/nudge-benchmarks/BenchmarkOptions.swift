import Foundation
import ServiceKit

/// Sizes of what is measured, and where Kafka is.
struct BenchmarkOptions {
  static let kafkaHomeSetting = Setting<String?>(
    "kafka-home", environment: "KAFKA_HOME", default: nil, placeholder: "DIR",
    help: "Kafka distribution to start a broker of, on free ports.")
  static let brokersSetting = Setting<Int>(
    "brokers", environment: .none, default: 1, in: 1...3,
    help: "How many brokers there are, all on this machine; each has a replica of every partition.")
  static let listSetting = Setting<Bool>("list", environment: .none, default: false, help: "Name the benchmarks.")
  static let jsonSetting = Setting<Bool>(
    "json", environment: .none, default: false, help: "One JSON object on standard output, progress on standard error.")
  static let repetitionsSetting = Setting<Int>(
    "repetitions", environment: .none, default: 3, in: 1...100,
    help: "How often what is compared runs in turn; the median is reported.")
  static let recordsSetting = Setting<Int>(
    "records", environment: .none, default: 300_000, in: 1_000...100_000_000,
    help: "transactions: records of the input topic. stages: messages.")
  static let recordBytesSetting = Setting<Int>(
    "record-bytes", environment: .none, default: 500, in: 32...100_000, help: "transactions: bytes of a record's value."
  )
  static let keysSetting = Setting<Int>(
    "keys", environment: .none, default: 30_000, in: 1...10_000_000,
    help: "transactions: distinct keys, each a row of the stage's state.")
  static let partitionsSetting = Setting<Int>(
    "partitions", environment: .none, default: 12, in: 1...100, help: "Partitions of each topic.")
  static let batchSetting = Setting<Int>(
    "batch", environment: .none, default: 2_000, in: 1...100_000, help: "transactions: records of one at most.")
  static let roundsSetting = Setting<Int>(
    "rounds", environment: .none, default: 300, in: 10...100_000,
    help: "latency, sink: transactions measured, of each kind.")
  static let transactionsSetting = Setting<Int>(
    "transactions", environment: .none, default: 40_000, in: 0...10_000_000,
    help: "sink: transactions of one transactional id at the end; a producer's epochs end at 32,767.")
  static let restoreSetting = Setting<Int>(
    "restore-megabytes", environment: .none, default: 320, in: 1...100_000,
    help: "restore: size of the changelog, in rows of 400 bytes.")
  static let timersSetting = Setting<Int>(
    "timers", environment: .none, default: 1_000_000, in: 0...100_000_000,
    help: "timers: how many others wait at the end, at most.")
  static let messagesSetting = Setting<Int>(
    "messages", environment: .none, default: 20_000, in: 100...100_000_000, help: "backlog: chat messages.")
  static let membersSetting = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...10_000, help: "backlog: members of a group.")
  static let peopleSetting = Setting<Int>(
    "people", environment: .none, default: 1_000, in: 2...10_000_000,
    help: "backlog, stages, erasure: people, with a device each.")
  static let largeGroupSetting = Setting<Int>(
    "large-group", environment: .none, default: 10_000, in: 1_000...1_000_000,
    help: "fanout: members of the large group.")
  static let deletionsSetting = Setting<Int>(
    "deletions", environment: .none, default: 10_000, in: 1...1_000_000,
    help: "erasure: people who are deleted, out of --people, ten groups each.")
  static let threadsSetting = Setting<Int>(
    "threads", environment: .none, default: 1, in: 1...64, help: "backlog: stream threads of each service.")
  static let instancesSetting = Setting<Int>(
    "instances", environment: .none, default: 1, in: 1...16, help: "backlog: processes of each service.")
  static let chatLogSetting = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "backlog: JSON lines with a text each, plain or gzip; texts are made up without.")
  static let secondsSetting = Setting<Int>(
    "seconds", environment: .none, default: 10, in: 2...3_600,
    help: "http, fanout, neighbours: how long each load lasts.")
  static let restartSecondsSetting = Setting<Int>(
    "restart-seconds", environment: .none, default: 60, in: 10...3_600,
    help: "http: how long the load lasts through which the broker restarts.")
  static let servicesSetting = Setting<String>(
    "services", environment: .none, default: "../.build/release", placeholder: "DIR",
    help: "backlog, transport: where nudge-ingest, nudge-analyzer, nudge-dispatcher and fcm-emulator are.")
  static let requestsSetting = Setting<Int>(
    "requests", environment: .none, default: 60_000, in: 1_000...10_000_000, help: "transport: requests of a run.")
  static let fcmServerSetting = Setting<String?>(
    "fcm-server", environment: .none, default: nil, placeholder: "URL",
    help:
      "transport: a server that takes any bearer token, instead of the emulator. It answers as it answers; needs --fcm-ca."
  )
  static let fcmCASetting = Setting<String?>(
    "fcm-ca", environment: .none, default: nil, placeholder: "FILE",
    help: "transport: the certificate authority of --fcm-server, PEM.")
  static let firebasePythonSetting = Setting<String?>(
    "firebase-python", environment: .none, default: nil, placeholder: "FILE",
    help: "transport: a Python that has firebase-admin, to be measured as well.")
  static let firebaseScriptSetting = Setting<String>(
    "firebase-script", environment: .none, default: "firebase_admin_send.py", placeholder: "FILE",
    help: "transport: what that Python runs.")
  static let peerSetting = Setting<String?>(
    "peer", environment: .none, default: nil, placeholder: "NAME",
    help:
      "backlog, latency: what else does the same work in the same run. streams: Kafka Streams, with a simpler decision; needs javac, and kafka-streams and rocksdbjni among the jars of the distribution."
  )
  static let kafkaPropertiesSetting = Setting<[String: String]>(
    "kafka-property", environment: .none, default: [:],
    help: "backlog: any property of librdkafka, for the services, such as compression.type=lz4.")

  static let all: [any AnySetting] = [
    kafkaHomeSetting, brokersSetting, listSetting, jsonSetting, repetitionsSetting, recordsSetting, recordBytesSetting,
    keysSetting,
    partitionsSetting, batchSetting, roundsSetting, transactionsSetting, restoreSetting, timersSetting,
    messagesSetting, membersSetting, peopleSetting, largeGroupSetting, deletionsSetting, secondsSetting,
    restartSecondsSetting, threadsSetting,
    instancesSetting, chatLogSetting,
    servicesSetting, peerSetting, kafkaPropertiesSetting, requestsSetting, fcmServerSetting, fcmCASetting,
    firebasePythonSetting,
    firebaseScriptSetting,
  ]

  let kafkaHome: String?
  let brokers: Int
  let list: Bool
  let json: Bool
  let repetitions: Int
  let records: Int
  let recordBytes: Int
  let keys: Int
  let partitions: Int32
  let batch: Int
  let rounds: Int
  let transactions: Int
  let restoreMegabytes: Int
  let timers: Int
  let messages: Int
  let members: Int
  let people: Int
  let largeGroup: Int
  let deletions: Int
  let threads: Int
  let instances: Int
  let seconds: Int
  let restartSeconds: Int
  let chatLog: String?
  let services: String
  /// Whether Kafka Streams is measured as well.
  let hasStreamsPeer: Bool
  let kafkaProperties: [String: String]
  let requests: Int
  let fcmServer: String?
  let fcmCA: String?
  let firebasePython: String?
  let firebaseScript: String

  init(_ values: SettingsValues) throws {
    kafkaHome = values[Self.kafkaHomeSetting]
    brokers = values[Self.brokersSetting]
    list = values[Self.listSetting]
    json = values[Self.jsonSetting]
    repetitions = values[Self.repetitionsSetting]
    records = values[Self.recordsSetting]
    recordBytes = values[Self.recordBytesSetting]
    keys = values[Self.keysSetting]
    partitions = Int32(values[Self.partitionsSetting])
    batch = values[Self.batchSetting]
    rounds = values[Self.roundsSetting]
    transactions = values[Self.transactionsSetting]
    restoreMegabytes = values[Self.restoreSetting]
    timers = values[Self.timersSetting]
    messages = values[Self.messagesSetting]
    members = values[Self.membersSetting]
    people = values[Self.peopleSetting]
    largeGroup = values[Self.largeGroupSetting]
    deletions = values[Self.deletionsSetting]
    threads = values[Self.threadsSetting]
    instances = values[Self.instancesSetting]
    seconds = values[Self.secondsSetting]
    restartSeconds = values[Self.restartSecondsSetting]
    chatLog = values[Self.chatLogSetting]
    services = values[Self.servicesSetting]
    let peer = values[Self.peerSetting]
    guard peer == nil || peer == "streams" else {
      throw BenchmarkFailure("--peer \(peer ?? "") is not known; the only one is streams")
    }
    hasStreamsPeer = peer != nil
    kafkaProperties = values[Self.kafkaPropertiesSetting]
    requests = values[Self.requestsSetting]
    fcmServer = values[Self.fcmServerSetting]
    fcmCA = values[Self.fcmCASetting]
    firebasePython = values[Self.firebasePythonSetting]
    firebaseScript = values[Self.firebaseScriptSetting]
  }
}
