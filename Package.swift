// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// A C library of the system's, found by pkg-config.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let package = Package(
  name: "nudge",
  // iOS: NudgeClient alone, which keeps to what iOS 15 has (`NudgeClientTests/PlatformTests`).
  platforms: [.macOS(.v15), .iOS(.v15)],
  products: [
    .library(name: "NudgeSchema", targets: ["NudgeSchema"]),
    .library(name: "NudgeClient", targets: ["NudgeClient"]),
    // For Benchmarks/, a package of its own.
    .library(
      name: "NudgeServices",
      targets: [
        "Kafka", "KafkaTransactions", "StreamRuntime", "ServiceKit", "NudgeSchema", "Ingest", "Analyzer", "Dispatcher",
        "HTTPTransport",
      ]),
    .executable(name: "nudge", targets: ["nudge"]),
    .executable(name: "nudge-ingest", targets: ["nudge-ingest"]),
    .executable(name: "nudge-analyzer", targets: ["nudge-analyzer"]),
    .executable(name: "nudge-dispatcher", targets: ["nudge-dispatcher"]),
    .executable(name: "fcm-emulator", targets: ["fcm-emulator"]),
  ],
  targets: [
    // C libraries: a module map and a shim header each.
    system("CLibrdkafka", "rdkafka", apt: "librdkafka-dev", brew: "librdkafka"),
    system("CSQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    system("CLibcurl", "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    system("COpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3"),
    system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
    system("CNghttp2", "libnghttp2", apt: "libnghttp2-dev", brew: "nghttp2"),
    system("CZlib", "zlib", apt: "zlib1g-dev", brew: "zlib"),
    system("CLZ4", "liblz4", apt: "liblz4-dev", brew: "lz4"),
    // glibc's settings of its allocator; empty elsewhere.
    .systemLibrary(name: "CMalloc", path: "Sources/CMalloc"),
    .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CCRC32C"),

    // What travels: records, topics, and how they are written.
    module("NudgeSchema"),
    module("JSONCodec", ["CSimdjson"]),
    module("NudgeCodec", ["NudgeSchema", "JSONCodec"]),
    module("Wording", ["NudgeSchema"]),
    module("NudgeClient"),
    module("VirtualPhone", ["NudgeClient"]),

    // How likely a message is for somebody.
    module("Relevance", exclude: ["Training"]),

    // The parts the services stand on.
    module("HTTPTransport", ["CLibcurl"]),
    module("OAuthBearer", ["HTTPTransport", "JSONCodec"]),
    module("Kafka", ["CLibrdkafka", "OAuthBearer"]),
    module("KafkaTransactions", ["CCRC32C", "CLZ4", "COpenSSL", "OAuthBearer"]),
    module("SQLite", ["CSQLite"]),
    module("HTTPServer", ["CMicroHTTPD"]),
    module("Gzip", ["CZlib"]),
    module("ServiceKit", ["HTTPServer", "COpenSSL", "CMalloc"]),
    module("OTLP", ["ServiceKit", "HTTPTransport", "JSONCodec"]),
    module("StreamRuntime", ["Kafka", "KafkaTransactions", "SQLite", "ServiceKit", "NudgeSchema"]),

    // The stages.
    module(
      "Ingest",
      [
        "NudgeSchema", "NudgeCodec", "Wording", "StreamRuntime", "ServiceKit", "JSONCodec", "Kafka", "HTTPServer",
        "Gzip", "Relevance", "OTLP",
      ]),
    module("Analyzer", ["NudgeSchema", "NudgeCodec", "Wording", "StreamRuntime", "ServiceKit", "Relevance", "OTLP"]),
    module(
      "Dispatcher",
      ["NudgeSchema", "NudgeCodec", "StreamRuntime", "ServiceKit", "HTTPTransport", "JSONCodec", "OTLP"]),
    module("FCMEmulator", ["CNghttp2", "COpenSSL", "HTTPServer", "JSONCodec", "VirtualPhone"]),
    module(
      "NudgeCommands",
      [
        "NudgeSchema", "Kafka", "KafkaTransactions", "ServiceKit", "StreamRuntime", "FCMEmulator", "Ingest", "Analyzer",
        "Dispatcher", "Gzip", "Relevance", "HTTPTransport", "NudgeClient", "VirtualPhone", "JSONCodec",
      ]),

    program("nudge-ingest", ["Ingest", "ServiceKit"]),
    program("nudge-analyzer", ["Analyzer", "ServiceKit"]),
    program("nudge-dispatcher", ["Dispatcher", "ServiceKit"]),
    program("fcm-emulator", ["FCMEmulator", "ServiceKit"]),
    program("nudge", ["NudgeCommands", "ServiceKit"]),

    // What the tests of several modules share.
    .target(
      name: "TestSupport", dependencies: ["HTTPServer", "Kafka", "NudgeCodec", "NudgeSchema"],
      path: "Tests/TestSupport", swiftSettings: strict),
    tests("NudgeSchemaTests", ["NudgeSchema", "TestSupport"]),
    tests("WordingTests", ["Wording", "NudgeSchema"]),
    tests("JSONCodecTests", ["JSONCodec", "TestSupport"]),
    tests("NudgeCodecTests", ["NudgeCodec", "NudgeSchema", "TestSupport"]),
    tests("NudgeClientTests", ["NudgeClient"]),
    tests("VirtualPhoneTests", ["VirtualPhone", "NudgeClient", "TestSupport"]),
    tests("OAuthBearerTests", ["OAuthBearer", "HTTPServer", "TestSupport"]),
    tests("KafkaTests", ["Kafka", "TestSupport"]),
    tests("KafkaTransactionsTests", ["KafkaTransactions", "CCRC32C", "CLZ4", "Kafka", "TestSupport"]),
    tests("SQLiteTests", ["SQLite"]),
    tests("HTTPTransportTests", ["HTTPTransport", "FCMEmulator"]),
    tests("HTTPServerTests", ["HTTPServer", "TestSupport"]),
    tests("OTLPTests", ["OTLP", "ServiceKit", "HTTPServer", "HTTPTransport", "TestSupport"]),
    tests("ServiceKitTests", ["ServiceKit", "HTTPServer", "CMalloc", "TestSupport"]),
    tests(
      "StreamRuntimeTests",
      ["StreamRuntime", "Kafka", "KafkaTransactions", "NudgeSchema", "ServiceKit", "SQLite", "TestSupport"]),
    tests(
      "IngestTests",
      [
        "Ingest", "NudgeCodec", "NudgeSchema", "StreamRuntime", "Kafka", "ServiceKit", "HTTPServer", "HTTPTransport",
        "Gzip", "JSONCodec", "TestSupport",
      ]),
    tests("RelevanceTests", ["Relevance", "TestSupport"]),
    tests(
      "AnalyzerTests",
      ["Analyzer", "Relevance", "Wording", "NudgeSchema", "StreamRuntime", "Kafka", "ServiceKit", "TestSupport"]),
    tests(
      "DispatcherTests",
      [
        "Dispatcher", "NudgeCodec", "NudgeSchema", "StreamRuntime", "FCMEmulator", "HTTPTransport", "ServiceKit",
        "JSONCodec", "TestSupport",
      ]),
    tests("FCMEmulatorTests", ["FCMEmulator", "HTTPTransport", "TestSupport", "VirtualPhone"]),
    tests(
      "NudgeCommandsTests",
      [
        "NudgeCommands", "NudgeSchema", "Kafka", "KafkaTransactions", "FCMEmulator", "ServiceKit", "StreamRuntime",
        "Ingest", "Analyzer", "Dispatcher", "NudgeClient", "VirtualPhone", "HTTPServer", "TestSupport",
      ]),
    tests(
      "IntegrationTests",
      [
        "NudgeCommands", "NudgeSchema", "Kafka", "FCMEmulator", "StreamRuntime", "ServiceKit", "Ingest", "Analyzer",
        "HTTPServer", "OTLP", "NudgeClient", "VirtualPhone", "TestSupport",
      ]),
  ],
  cxxLanguageStandard: .cxx17
)
