@testable import FCMEmulator
import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite("The emulator as a server", .timeLimit(.minutes(2)))
struct FCMEmulatorTests {
  @Test("A message is answered with its name, as JSON with a content length")
  func name() async throws {
    let desk = try Desk()
    let response = try await desk.message(to: "t").get()
    #expect(response.status == 200)
    let body = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: String])
    #expect(body.keys.sorted() == ["name"])
    #expect(body["name"]?.hasPrefix("projects/nudge-demo/messages/") == true)
    #expect(response.headers["content-type"] == "application/json; charset=UTF-8")
    #expect(response.headers["content-length"] == "\(response.body.count)")
    desk.end()
  }

  @Test("An unknown project or path is 404 without an FCM code, and only POST sends")
  func unknown() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(projects: ["one", "two"]))
    let body = Array(#"{"message":{"token":"t"}}"#.utf8)
    #expect(try await desk.send(body, project: "one").get().status == 200)
    #expect(try await desk.send(body, project: "two").get().status == 200)
    let other = try await desk.send(body, project: "three").get()
    #expect(other.status == 404)
    #expect(try ErrorBody(other).fcmCode == nil)
    let lost = try await desk.post(
      desk.emulator.url + "/v2/projects/one/messages:send", body, headers: [("authorization", "Bearer \(desk.token)")]
    ).get()
    #expect(lost.status == 404)
    desk.end()
  }

  @Test("The content type must be JSON")
  func contentType() async throws {
    let desk = try Desk()
    let body = Array(#"{"message":{"token":"t"}}"#.utf8)
    for type in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
      #expect(try await desk.send(body, contentType: type).get().status == 200, "\(type)")
    }
    for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
      #expect(try await desk.send(body, contentType: type).get().status == 400, "\(type)")
    }
    desk.end()
  }

  @Test("Large bodies: up to a mebibyte is read and judged, more is refused, and the connection goes on")
  func largeBodies() async throws {
    let desk = try Desk()
    for size in [100_000, 1_000_000, 3_000_000] {
      let text = String(repeating: "x", count: size)
      let response = try await desk.send(#"{"message":{"token":"t","data":{"k":"\#(text)"}}}"#)
      #expect(response.status == 400)
      let message = try ErrorBody(response).error.message
      #expect(message.hasPrefix("Request payload size exceeds") == (size > 1 << 20), "\(size): \(message)")
    }
    #expect(try await desk.message(to: "t").get().status == 200)
    desk.end()
  }

  @Test("The record, with tokens and texts in it, and the service account are their owner's alone")
  func recordIsPrivate() async throws {
    let folder = try ScratchFolder()
    let path = folder.file("requests.jsonl")
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    for before in [nil, 0o644] {
      if let before {
        try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: path)
        #expect(try mode(path) == before)
      }
      let desk = try Desk(FCMEmulatorConfiguration(directory: folder.file("emulator"), recordFile: path))
      #expect(try mode(path) == 0o600)
      #expect(try mode(desk.emulator.serviceAccountFile) == 0o600)
      desk.end()
    }
  }

  @Test("The record has every request on a line of JSON, with the access token masked and no credential in it")
  func record() async throws {
    let folder = try ScratchFolder()
    let desk = try Desk(FCMEmulatorConfiguration(recordFile: folder.file("requests.jsonl")))
    _ = try await desk.send("{\n\"message\": {\n\"token\": \"t\", \"data\": {\"a\": \"line\\nbreak\"}}}")
    _ = try await desk.send("not { json \"\n")
    _ = try await desk.post(
      desk.emulator.url + "/token", Array("grant_type=x&assertion=secret-assertion".utf8),
      headers: [("content-type", "application/x-www-form-urlencoded"), ("Authorization", "Basic secret-basic")]
    ).get()
    // Written within 100 ms, not only at the end.
    let path = folder.file("requests.jsonl")
    #expect(
      try await eventually {
        (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count == 3
      })
    desk.end()
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains(desk.token))
    #expect(!text.contains("secret"))
    struct Line: Decodable {
      struct Body: Decodable {
        struct Message: Decodable {
          let token: String
          let data: [String: String]
        }
        let message: Message
      }
      let time: Int64
      let path: String
      let status: Int
      let headers: [String: String]
    }
    let lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(lines.map(\.status) == [200, 400, 400])
    #expect(lines[0].path == "/v1/projects/nudge-demo/messages:send")
    #expect(lines[0].headers["authorization"] == "Bearer ***")
    #expect(abs(lines[0].time - Int64(Date().timeIntervalSince1970 * 1_000)) < 300_000)
    struct First: Decodable { let body: Line.Body }
    let first = try JSONDecoder().decode(First.self, from: Data(text.split(separator: "\n")[0].utf8))
    #expect(first.body.message.data == ["a": "line\nbreak"])
    struct Second: Decodable { let body: String }
    let second = try JSONDecoder().decode(Second.self, from: Data(text.split(separator: "\n")[1].utf8))
    #expect(second.body == "not { json \"\n")
    try folder.remove()
  }

  @Test("The latest requests are kept in memory when asked for")
  func kept() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(keepRequests: 5))
    for index in 0..<12 { _ = await desk.message(to: "device-\(index)") }
    let bodies = desk.emulator.requests().map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies == (7..<12).map { #"{"message":{"token":"device-\#($0)"}}"# })
    desk.end()
  }

  @Test("Statistics count requests by status and different devices, without counting themselves")
  func statistics() async throws {
    let desk = try Desk()
    for device in ["a", "b", "a", "bad token"] { _ = await desk.message(to: device) }
    for _ in 0..<2 {
      let request = HTTPRequest(method: .get, url: desk.emulator.url + "/emulator/stats")
      let response = try await withCheckedContinuation { continuation in
        desk.client.send(request) { continuation.resume(returning: $0) }
      }.get()
      let stats = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
      #expect(stats["requests"] as? Int == 4)
      #expect(stats["byStatus"] as? [String: Int] == ["200": 3, "400": 1])
      #expect(stats["distinctTokens"] as? Int == 2)
    }
    #expect(desk.emulator.counters.byStatus == [200: 3, 400: 1])
    desk.end()
  }

  @Test("A port that is taken is an error that names it")
  func portTaken() throws {
    let first = try FCMEmulator()
    let port = try #require(URL(string: first.url)?.port)
    let error = #expect(throws: FCMEmulatorError.self) {
      _ = try FCMEmulator(FCMEmulatorConfiguration(listen: FCMEmulatorAddress(port: UInt16(port))))
    }
    #expect(error?.description.contains("127.0.0.1:\(port)") == true)
    first.stop()
  }

  @Test("Its files: a CA and a service account only the owner may read; a temporary folder goes with it")
  func files() throws {
    let folder = try ScratchFolder()
    let emulator = try FCMEmulator(FCMEmulatorConfiguration(directory: folder.path))
    let attributes = try FileManager.default.attributesOfItem(atPath: emulator.serviceAccountFile)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    emulator.stop()
    #expect(FileManager.default.fileExists(atPath: emulator.caFile))
    try folder.remove()
    let temporary = try FCMEmulator()
    #expect(FileManager.default.fileExists(atPath: temporary.caFile))
    temporary.stop()
    #expect(!FileManager.default.fileExists(atPath: temporary.caFile))
  }

  @Test("curl speaks to it over TLS with its CA, and without TLS")
  func curl() async throws {
    let curl = "/usr/bin/curl"
    guard FileManager.default.isExecutableFile(atPath: curl) else {
      print("skipped: no \(curl); install curl to run this test")
      return
    }
    let desk = try Desk()
    let plain = try #require(desk.emulator.plainURL)
    for arguments in [
      ["--http2", "--cacert", desk.emulator.caFile, desk.emulator.url], ["--http2-prior-knowledge", plain],
    ] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: curl)
      process.arguments =
        ["-sS", "-w", " %{http_code} %{http_version}", "-H", "authorization: Bearer \(desk.token)"]
        + ["-H", "content-type: application/json", "-d", #"{"message":{"token":"t"}}"#] + arguments.dropLast()
        + [(arguments.last ?? "") + "/v1/projects/nudge-demo/messages:send"]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text.hasSuffix(" 200 2"), "\(text)")
    }
    desk.end()
  }
}
