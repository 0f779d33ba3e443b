import TestSupport
import Testing

@testable import HTTPServer

@Suite("HTTP server: pages of other origins (CORS)")
struct CORSTests {
  private func withAPI(_ body: (SocketClient) throws -> Void) throws {
    let server = try HTTPServer(
      address: "127.0.0.1:0",
      routes: [
        HTTPRoute(.post, "/v1/events") { _ in .text("taken") },
        HTTPRoute(.get, "/v1/schemas") { _ in .text("list") },
      ],
      cors: CORSPolicy(
        origins: ["https://chat.example"], requestHeaders: ["Authorization", "Content-Type"],
        exposedHeaders: ["Retry-After"]))
    try server.start()
    defer { server.stop() }
    try body(SocketClient(port: server.port))
  }

  @Test("a preflight of a named origin is told methods and headers; another's is refused as before")
  func preflight() throws {
    try withAPI { client in
      let asked = ["Origin: https://chat.example", "Access-Control-Request-Method: POST"]
      let answer = try client.request("OPTIONS", "/v1/events", headers: asked)
      #expect(answer.status == 204)
      #expect(answer.headers["access-control-allow-origin"] == "https://chat.example")
      #expect(answer.headers["access-control-allow-methods"] == "POST")
      #expect(answer.headers["access-control-allow-headers"] == "Authorization, Content-Type")
      #expect(
        answer.headers["access-control-max-age"] == "600" && answer.headers["vary"] == "Origin")
      for origin in [
        "https://evil.example", "https://chat.example.evil", "http://chat.example", "null",
      ] {
        let other = try client.request(
          "OPTIONS", "/v1/events",
          headers: ["Origin: \(origin)", "Access-Control-Request-Method: POST"])
        #expect(other.status == 405 && other.headers["access-control-allow-origin"] == nil)
      }
      // Without the request's method it is no preflight; a path that is not there stays so.
      #expect(
        try client.request("OPTIONS", "/v1/events", headers: ["Origin: https://chat.example"])
          .status == 405)
      #expect(try client.request("OPTIONS", "/none", headers: asked).status == 404)
    }
  }

  @Test(
    "every answer to a named origin may be read by its page, also a refusal; others get no permission"
  )
  func answers() throws {
    try withAPI { client in
      let mine = ["Origin: https://chat.example"]
      for (method, path, status) in [
        ("POST", "/v1/events", 200), ("GET", "/none", 404), ("GET", "/v1/events", 405),
      ] {
        let answer = try client.request(
          method, path, headers: mine, body: method == "POST" ? "{}" : nil)
        #expect(answer.status == status)
        #expect(
          answer.headers["access-control-allow-origin"] == "https://chat.example",
          "\(method) \(path)")
        #expect(answer.headers["access-control-expose-headers"] == "Retry-After")
      }
      for headers in [[], ["Origin: https://evil.example"]] {
        let answer = try client.request("GET", "/v1/schemas", headers: headers)
        #expect(answer.status == 200 && answer.headers["access-control-allow-origin"] == nil)
        #expect(answer.headers["vary"] == "Origin")
      }
    }
  }

  @Test("without a policy nothing is said about origins")
  func off() throws {
    try withServer([HTTPRoute(.get, "/") { _ in .text("") }]) { server in
      let answer = try SocketClient(port: server.port).request(
        "GET", "/", headers: ["Origin: https://chat.example"])
      #expect(answer.headers["access-control-allow-origin"] == nil && answer.headers["vary"] == nil)
    }
  }
}
