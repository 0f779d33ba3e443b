@testable import FCMEmulator
import Foundation
import HTTPTransport
import ServiceKit
import TestSupport
import Testing

@testable import Dispatcher

@Suite("--check and the service accounts", .timeLimit(.minutes(2)))
struct FCMCheckTests {
  private func look(
    _ faults: [Fault] = [], account change: (ServiceAccount) -> ServiceAccount = { $0 }
  ) async throws -> String {
    let emulator = try FCMEmulator(FCMEmulatorConfiguration(keepRequests: 10, faults: faults))
    emulator.start()
    defer { emulator.stop() }
    let account = change(try ServiceAccount(file: emulator.serviceAccountFile))
    let client = FCMClient(
      accounts: [account], http: try HTTPClientGroup(HTTPClientConfiguration(caFile: emulator.caFile)),
      baseURL: emulator.url, log: Logger(label: "fcm", sink: LogCapture().sink), grace: .zero)
    defer { client.stop() }
    // It blocks until FCM has answered, so it must not run on the pool of this task.
    let result = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: Result { try FCMCheck(account: account, client: client).check() })
      }
    }
    let sends = emulator.requests().filter { $0.path.hasSuffix("messages:send") }
    #expect(sends.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains(#""validate_only":true"#) })
    return try result.get()
  }

  private func failure(_ faults: [Fault]) async throws -> String {
    let error = await #expect(throws: FCMCheck.Failure.self) { try await look(faults) }
    return error?.description ?? ""
  }

  @Test(
    "--check gets an access token and validates a message; an invalid registration token in FCM's answer is a success")
  func works() async throws {
    #expect(try await look().contains("may send"))
    for name in [EmulatorAnswer.Name.invalidToken, .unregistered, .invalidArgument, .senderIDMismatch, .quotaExceeded] {
      #expect(try await look([Fault(action: .answer(EmulatorAnswer(name)))]).contains("may send"), "\(name)")
    }
  }

  @Test("a failure names the problem and where to fix it")
  func failures() async throws {
    for (fault, words) in [
      (Fault(action: .answer(EmulatorAnswer(.permissionDenied))), "enable the Firebase Cloud Messaging API"),
      (Fault(action: .answer(EmulatorAnswer(.notFound))), "there is no project nudge-demo"),
      (Fault(action: .answer(EmulatorAnswer(.accessTokenExpired))), "make a new key"),
      (Fault(action: .answer(EmulatorAnswer(.thirdPartyAuthError))), "APNs"),
      (Fault(action: .answer(EmulatorAnswer(.unavailable))), "fails"),
      (
        Fault(endpoint: .token, action: .answer(EmulatorAnswer(status: 400, body: #"{"error":"invalid_grant"}"#))),
        "does its key"
      ),
      (Fault(endpoint: .token, action: .answer(EmulatorAnswer(status: 503))), "cannot be reached"),
    ] {
      let text = try await failure([fault])
      #expect(text.contains(words), "\(text)")
      #expect(text.contains("service account"))
    }
  }

  @Test("credentials are files, folders of .json files, or both; one account for each project")
  func files() throws {
    let directory = try TemporaryDirectory()
    let first = try FCMEmulator(FCMEmulatorConfiguration(projects: ["first"]))
    let second = try FCMEmulator(FCMEmulatorConfiguration(projects: ["second"]))
    for (emulator, name) in [(first, "b.json"), (second, "a.json"), (second, "notes.txt")] {
      try FileManager.default.copyItem(
        atPath: emulator.serviceAccountFile, toPath: directory.path + "/" + name)
    }
    #expect(
      try ServiceAccount.all(in: ServiceAccount.files(in: directory.path)).map(\.projectId) == ["second", "first"])
    let both = try ServiceAccount.all(
      in: ServiceAccount.files(in: "\(first.serviceAccountFile), \(second.serviceAccountFile)"))
    #expect(both.map(\.projectId) == ["first", "second"])
    func error(_ paths: String) -> String {
      do {
        return "\(try ServiceAccount.all(in: ServiceAccount.files(in: paths)).count) accounts"
      } catch {
        return error.description
      }
    }
    #expect(error(directory.path + "," + first.serviceAccountFile).contains("one service account a project"))
    #expect(error(",").contains("names no file"))
    let empty = try TemporaryDirectory()
    #expect(error(empty.path).contains("has no .json file"))
  }

  @Test("P1: each project has its own account and access token; a device that names no project belongs to the first")
  func projects() async throws {
    let first = try FCMEmulator(FCMEmulatorConfiguration(projects: ["first"], keepRequests: 10))
    // The second account's project is known to the first emulator too; its tokens come from its own token server.
    let directory = try TemporaryDirectory()
    first.start()
    defer { first.stop() }
    let text = try String(contentsOfFile: first.serviceAccountFile, encoding: .utf8)
    let other = directory.path + "/second.json"
    try Data(text.replacing("\"first\"", with: "\"second\"").utf8)
      .write(to: URL(fileURLWithPath: other))
    let accounts = try ServiceAccount.all(
      in: ServiceAccount.files(in: first.serviceAccountFile + "," + other))
    #expect(accounts.map(\.projectId) == ["first", "second"])
    let client = FCMClient(
      accounts: accounts, http: try HTTPClientGroup(HTTPClientConfiguration(caFile: first.caFile)), baseURL: first.url,
      log: Logger(label: "fcm", sink: LogCapture().sink), grace: .zero)
    defer { client.stop() }
    for project in [nil, "first", "second"] as [String?] {
      let reply = await withCheckedContinuation { continuation in
        client.perform(
          SendRequest(
            id: 1, destination: .fcm(project: project),
            subject: .init(userId: "ann", deviceId: "d", pushId: "p", attempt: 1),
            token: "t",
            body: Array(#"{"message":{"token":"t"}}"#.utf8))
        ) { continuation.resume(returning: $0) }
      }
      // The emulator does not know the second project. Its 404 shows that the request named that project.
      #expect(reply.answer.httpStatus == (project == "second" ? 404 : 200))
    }
    #expect(first.counters.tokensIssued == 2, "one access token for each account")
  }
}
