import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import HTTPServer
@testable import Ingest

@Suite("HTTP API: query parameters", .serialized)
struct QueryParametersTests {
  private struct Document: Decodable {
    struct Operation: Decodable {
      struct Parameter: Decodable {
        var name: String
        var `in`: String
      }
      struct Empty: Decodable {}
      var parameters: [Parameter]?
      var responses: [String: Empty]
    }
    var paths: [String: [String: Operation]]
  }

  @Test("every endpoint refuses a parameter that it does not have, and names it and those that it has")
  func unknown() throws {
    let api = try APIUnderTest(topics: [.chatEvents, .userEvents, .banners])
    let document = try JSONDecoder().decode(Document.self, from: Data(OpenAPIDocument.json))
    #expect(document.paths.count >= 9)
    let user = try APIUnderTest.token(user: "ann")
    for (path, operations) in document.paths {
      for (method, operation) in operations {
        let place = path.replacing("{type}", with: "message.created").replacing("{id}", with: "ben")
        let known = (operation.parameters ?? []).filter { $0.in == "query" }.map(\.name)
        let answer = try api.call(
          method.uppercased(), "\(place)?userID=a%0Ab",
          headers: [
            "Authorization: Bearer \(path.hasPrefix("/v1/me") ? user : APIUnderTest.key)",
            "Content-Type: application/json",
          ], bytes: method == "get" ? nil : Array("{}".utf8))
        #expect(answer.status == 400 && answer.body.code == "bad_request", "\(method) \(path): \(answer.status)")
        let rule = known.isEmpty ? "none is known here" : "known here: \(known.joined(separator: ", "))"
        #expect(answer.body.message == "userID is not a query parameter; \(rule)", "\(method) \(path)")
        #expect(operation.responses["400"] != nil, "\(method) \(path)")
      }
    }
  }

  @Test("who may not ask is told that, and not which parameters there are")
  func withoutCredentials() throws {
    let api = try APIUnderTest(topics: [.chatEvents, .userEvents, .banners])
    #expect(try api.call("GET", "/v1/live?userID=ben").status == 401)
    #expect(try api.call("GET", "/v1/nowhere?userID=ben").status == 404)
  }
}
