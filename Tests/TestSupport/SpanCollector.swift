import Foundation
public import HTTPServer
import Synchronization

/// An OpenTelemetry collector for tests: accepts OTLP over HTTP with JSON bodies, and keeps the spans.
public final class SpanCollector: Sendable {
  /// A span as it arrived; what it lacks of the format is a failure of decoding.
  public struct ReceivedSpan: Decodable, Sendable {
    /// An attribute's value: a text, or a whole number as OTLP's JSON has it, a text too.
    public struct Attribute: Decodable, Sendable {
      /// One of the two.
      public struct Value: Decodable, Sendable {
        /// A text.
        public var stringValue: String?
        /// A whole number.
        public var intValue: String?
      }
      /// The name.
      public var key: String
      /// The value.
      public var value: Value
    }
    /// Whether it failed.
    public struct Status: Decodable, Sendable {
      /// 2: it did.
      public var code: Int
      /// Why.
      public var message: String
    }
    /// 32 hexadecimal digits.
    public var traceId: String
    /// 16 hexadecimal digits.
    public var spanId: String
    /// 16 hexadecimal digits.
    public var parentSpanId: String
    /// The name, from a small set.
    public var name: String
    /// 2: server, 3: client, 5: consumer.
    public var kind: Int
    /// Nanoseconds since the epoch.
    public var startTimeUnixNano: String
    /// Nanoseconds since the epoch.
    public var endTimeUnixNano: String
    /// By name and value.
    public var attributes: [Attribute]
    /// nil: it did not fail.
    public var status: Status?

    /// An attribute's text, or number as a text.
    public subscript(_ name: String) -> String? {
      attributes.first { $0.key == name }.flatMap { $0.value.stringValue ?? $0.value.intValue }
    }
  }

  private struct Document: Decodable {
    struct ResourceSpans: Decodable {
      struct Resource: Decodable { var attributes: [ReceivedSpan.Attribute] }
      struct ScopeSpans: Decodable { var spans: [ReceivedSpan] }
      var resource: Resource
      var scopeSpans: [ScopeSpans]
    }
    var resourceSpans: [ResourceSpans]
  }

  private struct State {
    var bodies: [String] = []
    var apiKeys: [String?] = []
    var answers: [HTTPServerResponse]
    var isSilent: Bool
    var held: [HTTPResponder] = []
  }

  private final class Box: Sendable {
    let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
  }

  private let box: Box
  private let server: HTTPServer

  /// Starts it on a port of the system's choice.
  /// - Parameters:
  ///   - answers: to the first requests, in order; the others get 200.
  ///   - isSilent: takes requests and answers none.
  public init(answers: [HTTPServerResponse] = [], isSilent: Bool = false) throws {
    let box = Box(State(answers: answers, isSilent: isSilent))
    self.box = box
    server = try HTTPServer(
      address: "127.0.0.1:0",
      routes: ["/v1/traces", "/v1/metrics", "/v1/logs"].map { path in
        HTTPRoute(
          .post, path, contentTypes: ["application/json"],
          answeringLater: { request, responder in
            let answer = box.state.withLock { state -> HTTPServerResponse? in
              state.bodies.append(String(decoding: request.body, as: UTF8.self))
              state.apiKeys.append(request.headers["X-Api-Key"])
              if state.isSilent {
                state.held.append(responder)
                return nil
              }
              return state.answers.isEmpty ? .json(bytes: Array("{}".utf8)) : state.answers.removeFirst()
            }
            if let answer { responder.respond(answer) }
          })
      }, limits: HTTPServerLimits(bodySize: 8 << 20))
    try server.start()
  }

  /// The value for `--otlp-endpoint`.
  public var endpoint: String { "http://127.0.0.1:\(server.port)" }

  /// The bodies of all requests, in their order.
  public var bodies: [String] { box.state.withLock { $0.bodies } }

  /// The header `X-Api-Key` of all requests, in their order.
  public var apiKeys: [String?] { box.state.withLock { $0.apiKeys } }

  /// All spans that arrived, with the name of the service that sent each.
  public func spans() throws -> [(service: String, span: ReceivedSpan)] {
    try bodies.flatMap { body in
      try JSONDecoder().decode(Document.self, from: Data(body.utf8)).resourceSpans.flatMap { resource in
        let service = resource.resource.attributes.first { $0.key == "service.name" }?.value.stringValue ?? ""
        return resource.scopeSpans.flatMap { $0.spans.map { (service, $0) } }
      }
    }
  }

  /// Ends it.
  public func stop() {
    box.state.withLock { $0.held = [] }
    server.stop()
  }
}
