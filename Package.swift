// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// A folder of `Sources` and of `Tests`. A layer depends only on itself and on those above it in this list, which
/// `LayerTests` checks.
enum Layer: String {
  /// System libraries, and our own C code.
  case c = "C"
  /// Records, topics and how they are written; the app's side.
  case contract = "Contract"
  /// HTTP, logs, metrics, settings, tokens.
  case platform = "Platform"
  /// Kafka, transactions, state, stream threads.
  case runtime = "Runtime"
  /// Ingest, analyzer, dispatcher.
  case stages = "Stages"
  /// The operator's commands of `nudge`.
  case operate = "Operate"
  /// The FCM emulator, virtual phones, and the commands of `nudge` that need them: load, demo, device.
  case lab = "Lab"
  /// The programs: a few lines each.
  case programs = "Programs"

  func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(
      name: name, dependencies: dependencies, path: "Sources/\(rawValue)/\(name)", exclude: exclude,
      swiftSettings: strict)
  }

  func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies + ["CAllocator"], path: "Sources/\(rawValue)/\(name)",
      swiftSettings: strict)
  }

  func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/\(rawValue)/\(name)", swiftSettings: strict)
  }

  /// A C library of the system's, found by pkg-config.
  func system(_ name: String, _ pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(
      name: name, path: "Sources/\(rawValue)/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
  }
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
        "HTTPTransport", "PeerSockets", "WebPush",
      ]),
    .executable(name: "nudge", targets: ["nudge"]),
    .executable(name: "nudge-ingest", targets: ["nudge-ingest"]),
    .executable(name: "nudge-analyzer", targets: ["nudge-analyzer"]),
    .executable(name: "nudge-dispatcher", targets: ["nudge-dispatcher"]),
    .executable(name: "fcm-emulator", targets: ["fcm-emulator"]),
  ],
  targets: [
    // C libraries: a module map and a shim header each.
    Layer.c.system("CLibrdkafka", "rdkafka", apt: "librdkafka-dev", brew: "librdkafka"),
    Layer.c.system("CSQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    Layer.c.system("CLibcurl", "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    Layer.c.system("COpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3"),
    Layer.c.system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
    Layer.c.system("CNghttp2", "libnghttp2", apt: "libnghttp2-dev", brew: "nghttp2"),
    Layer.c.system("CZlib", "zlib", apt: "zlib1g-dev", brew: "zlib"),
    Layer.c.system("CLZ4", "liblz4", apt: "liblz4-dev", brew: "lz4"),
    // The allocator of the programs on Linux: jemalloc, with its settings. Tests and libraries keep the system's.
    .target(
      name: "CAllocator", path: "Sources/C/CAllocator", publicHeadersPath: ".",
      linkerSettings: [.linkedLibrary("jemalloc", .when(platforms: [.linux]))]),
    .target(
      name: "CSimdjson", path: "Sources/C/CSimdjson", publicHeadersPath: ".",
      linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CCRC32C", path: "Sources/C/CCRC32C", publicHeadersPath: "."),
    // The pages of the console and of the emulator, embedded by the compiler: the programs need no files beside them.
    .target(name: "CWebPages", path: "Sources/C/CWebPages", exclude: ["console", "phones"], publicHeadersPath: "."),
    // The weights of the relevance model, as the training script writes them, embedded alike.
    .target(
      name: "CRelevance", path: "Sources/C/CRelevance", exclude: ["Lexicons", "Weights"], publicHeadersPath: "."),

    // Records, topics, their encodings, and the app's side.
    Layer.contract.module("NudgeSchema"),
    Layer.contract.module("JSONCodec", ["CSimdjson"]),
    Layer.contract.module("NudgeCodec", ["NudgeSchema", "JSONCodec"]),
    Layer.contract.module("Wording", ["NudgeSchema"]),
    Layer.contract.module("NudgeClient"),
    Layer.lab.module("VirtualPhone", ["NudgeClient", "ServiceKit", "WebPush"]),

    // How likely a message is for somebody.
    Layer.stages.module("Relevance", ["NudgeSchema", "CRelevance"], exclude: ["Training"]),

    // The parts the services stand on.
    Layer.platform.module("PeerSockets"),
    Layer.platform.module("HTTPTransport", ["CLibcurl", "PeerSockets"]),
    Layer.platform.module("OAuthBearer", ["HTTPTransport", "JSONCodec"]),
    Layer.runtime.module("Kafka", ["CLibrdkafka", "OAuthBearer", "PeerSockets"]),
    Layer.runtime.module("KafkaTransactions", ["CCRC32C", "CLZ4", "COpenSSL", "OAuthBearer", "PeerSockets"]),
    Layer.runtime.module("SQLite", ["CSQLite"]),
    Layer.platform.module("HTTPServer", ["CMicroHTTPD"]),
    Layer.platform.module("WebPages", ["CWebPages", "HTTPServer"]),
    Layer.platform.module("Gzip", ["CZlib"]),
    Layer.platform.module("ServiceKit", ["HTTPServer", "PeerSockets", "COpenSSL"]),
    // Seals pushes for browsers and UnifiedPush, and says where they may go.
    Layer.platform.module("WebPush", ["PeerSockets", "ServiceKit", "COpenSSL"]),
    Layer.platform.module("OTLP", ["ServiceKit", "HTTPTransport", "JSONCodec"]),
    Layer.runtime.module(
      "StreamRuntime", ["Kafka", "KafkaTransactions", "PeerSockets", "SQLite", "ServiceKit", "NudgeSchema"]),

    // The stages.
    Layer.stages.module(
      "Ingest",
      [
        "NudgeSchema", "NudgeCodec", "Wording", "StreamRuntime", "ServiceKit", "JSONCodec", "Kafka",
        "KafkaTransactions",
        "HTTPServer", "Gzip", "Relevance", "OTLP", "WebPush",
      ]),
    Layer.stages.module(
      "Analyzer", ["NudgeSchema", "NudgeCodec", "Wording", "StreamRuntime", "ServiceKit", "Relevance", "OTLP"]),
    Layer.stages.module(
      "Dispatcher",
      [
        "NudgeSchema", "NudgeCodec", "Wording", "StreamRuntime", "ServiceKit", "HTTPTransport", "JSONCodec", "OTLP",
        "WebPush",
      ]),
    Layer.lab.module(
      "FCMEmulator",
      ["CNghttp2", "COpenSSL", "HTTPServer", "JSONCodec", "ServiceKit", "VirtualPhone", "WebPages", "WebPush"]),
    Layer.operate.module("NudgeConsole", ["HTTPServer", "WebPages"]),
    Layer.operate.module(
      "NudgeCommands",
      [
        "NudgeSchema", "NudgeCodec", "Kafka", "KafkaTransactions", "ServiceKit", "StreamRuntime", "Ingest", "Analyzer",
        "Dispatcher", "JSONCodec", "NudgeClient", "NudgeConsole", "WebPush", "HTTPTransport",
      ]),
    Layer.lab.module(
      "NudgeLab",
      [
        "NudgeCommands", "NudgeSchema", "Kafka", "ServiceKit", "StreamRuntime", "Ingest", "Analyzer", "Dispatcher",
        "Gzip",
        "CZlib",
        "Relevance", "HTTPTransport", "NudgeClient", "VirtualPhone", "JSONCodec", "WebPush",
      ]),

    Layer.programs.program("nudge-ingest", ["Ingest", "ServiceKit"]),
    Layer.programs.program("nudge-analyzer", ["Analyzer", "ServiceKit"]),
    Layer.programs.program("nudge-dispatcher", ["Dispatcher", "ServiceKit"]),
    Layer.programs.program("fcm-emulator", ["FCMEmulator", "ServiceKit"]),
    Layer.programs.program("nudge", ["NudgeCommands", "NudgeLab", "ServiceKit"]),

    // Measures on chat logs, for docs/relevance.md and docs/attention.md: no part of a release.
    .executableTarget(
      name: "nudge-research",
      dependencies: [
        "NudgeLab", "NudgeCommands", "NudgeSchema", "Kafka", "ServiceKit", "StreamRuntime", "Ingest", "Analyzer",
        "Dispatcher", "JSONCodec",
      ], path: "Benchmarks/Research", swiftSettings: strict),
    .testTarget(
      name: "ResearchTests",
      dependencies: ["nudge-research", "NudgeLab", "NudgeSchema", "StreamRuntime", "TestSupport"],
      path: "Benchmarks/ResearchTests", swiftSettings: strict),

    // Shared by the tests of several modules.
    .target(
      name: "TestSupport", dependencies: ["HTTPServer", "Kafka", "NudgeCodec", "NudgeSchema", "ServiceKit"],
      path: "Tests/TestSupport", swiftSettings: strict),
    Layer.contract.tests("NudgeSchemaTests", ["NudgeSchema", "TestSupport"]),
    Layer.contract.tests("WordingTests", ["Wording", "NudgeSchema", "NudgeClient"]),
    Layer.contract.tests("JSONCodecTests", ["JSONCodec", "TestSupport"]),
    Layer.contract.tests("NudgeCodecTests", ["NudgeCodec", "NudgeSchema", "TestSupport"]),
    Layer.contract.tests("NudgeClientTests", ["NudgeClient", "TestSupport"]),
    Layer.lab.tests(
      "VirtualPhoneTests",
      ["VirtualPhone", "NudgeClient", "HTTPServer", "HTTPTransport", "ServiceKit", "TestSupport", "WebPush"]),
    Layer.platform.tests("OAuthBearerTests", ["OAuthBearer", "HTTPServer", "TestSupport"]),
    Layer.runtime.tests("KafkaTests", ["Kafka", "CLibrdkafka", "TestSupport"]),
    Layer.runtime.tests("KafkaTransactionsTests", ["KafkaTransactions", "CCRC32C", "CLZ4", "Kafka", "TestSupport"]),
    Layer.runtime.tests("SQLiteTests", ["SQLite"]),
    Layer.platform.tests("PeerSocketsTests", ["PeerSockets", "TestSupport"]),
    Layer.platform.tests("HTTPTransportTests", ["HTTPTransport", "FCMEmulator", "TestSupport"]),
    Layer.platform.tests("HTTPServerTests", ["HTTPServer", "CMicroHTTPD", "TestSupport"]),
    Layer.platform.tests("OTLPTests", ["OTLP", "ServiceKit", "HTTPServer", "HTTPTransport", "TestSupport"]),
    Layer.platform.tests("WebPushTests", ["WebPush", "PeerSockets", "ServiceKit", "TestSupport"]),
    Layer.platform.tests("ServiceKitTests", ["ServiceKit", "HTTPServer", "COpenSSL", "TestSupport"]),
    Layer.runtime.tests(
      "StreamRuntimeTests",
      ["StreamRuntime", "Kafka", "KafkaTransactions", "NudgeSchema", "ServiceKit", "SQLite", "TestSupport"]),
    Layer.stages.tests(
      "IngestTests",
      [
        "Ingest", "Analyzer", "NudgeCodec", "NudgeSchema", "StreamRuntime", "Kafka", "ServiceKit", "HTTPServer",
        "HTTPTransport", "Gzip", "JSONCodec", "TestSupport", "Relevance", "WebPush",
      ]),
    Layer.stages.tests("RelevanceTests", ["Relevance", "TestSupport"]),
    Layer.stages.tests(
      "AnalyzerTests",
      [
        "Analyzer", "Relevance", "Wording", "NudgeSchema", "NudgeCodec", "StreamRuntime", "Kafka", "ServiceKit",
        "TestSupport",
      ]),
    Layer.stages.tests(
      "DispatcherTests",
      [
        "Dispatcher", "NudgeCodec", "NudgeSchema", "StreamRuntime", "FCMEmulator", "HTTPTransport", "ServiceKit",
        "JSONCodec", "TestSupport", "NudgeClient", "VirtualPhone", "WebPush", "PeerSockets", "CLibcurl",
      ]),
    Layer.lab.tests(
      "FCMEmulatorTests",
      [
        "FCMEmulator", "COpenSSL", "HTTPTransport", "NudgeClient", "ServiceKit", "TestSupport", "VirtualPhone",
        "WebPages", "WebPush",
      ]),
    Layer.operate.tests("NudgeConsoleTests", ["NudgeConsole", "HTTPServer", "TestSupport", "WebPages"]),
    Layer.operate.tests(
      "NudgeCommandsTests",
      [
        "NudgeCommands", "NudgeSchema", "Kafka", "KafkaTransactions", "FCMEmulator", "ServiceKit", "StreamRuntime",
        "Ingest", "Analyzer", "Dispatcher", "HTTPServer", "JSONCodec", "NudgeConsole", "TestSupport", "WebPush",
      ]),
    Layer.lab.tests(
      "NudgeLabTests",
      [
        "NudgeLab", "NudgeCommands", "NudgeSchema", "Kafka", "ServiceKit", "StreamRuntime", "Ingest", "Analyzer",
        "Dispatcher", "NudgeClient", "VirtualPhone", "HTTPServer", "TestSupport",
      ]),
    Layer.lab.tests(
      "IntegrationTests",
      [
        "NudgeCommands", "NudgeLab", "NudgeSchema", "Kafka", "FCMEmulator", "StreamRuntime", "ServiceKit", "Ingest",
        "Analyzer", "HTTPServer", "HTTPTransport", "OTLP", "NudgeClient", "VirtualPhone", "TestSupport", "WebPush",
      ]),
    .testTarget(
      name: "RepositoryTests", dependencies: ["TestSupport"], path: "Tests/Style/RepositoryTests",
      swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)

// `make check` builds the test targets of one module: NUDGE_TEST_TARGETS names them, separated by commas.
if let chosen = Context.environment["NUDGE_TEST_TARGETS"], !chosen.isEmpty {
  let names = Set(chosen.split(separator: ",").map(String.init))
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
