@testable import FCMEmulator
import Foundation
import Testing

@testable import Dispatcher

@Suite("P1: the service account's file")
struct ServiceAccountTests {
  /// The emulator's file, changed.
  private func contents(_ change: (inout [String: Any]) -> Void) throws -> Data {
    let emulator = try FCMEmulator()
    defer { emulator.stop() }
    let data = try Data(contentsOf: URL(fileURLWithPath: emulator.serviceAccountFile))
    var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    change(&object)
    return try JSONSerialization.data(withJSONObject: object)
  }

  private func error(_ contents: Data) throws -> String {
    do {
      _ = try ServiceAccount(contents: contents, name: "key.json")
    } catch {
      return error.description
    }
    Issue.record("it was taken")
    return ""
  }

  @Test("P1: Google's file is read; without token_uri it means Google's token server")
  func reads() throws {
    let account = try ServiceAccount(contents: try contents { $0["token_uri"] = nil }, name: "key.json")
    #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
    #expect(account.clientEmail.hasSuffix(".iam.gserviceaccount.com"))
    #expect(!account.projectId.isEmpty)
  }

  @Test(
    "P1: a missing or wrong field is named, with the file",
    arguments: ["type", "project_id", "private_key_id", "private_key", "client_email"])
  func missing(field: String) throws {
    for value in [nil, "", 7] as [(any Sendable)?] {
      let message = try error(try contents { $0[field] = value })
      #expect(message.contains("key.json") && message.contains(field), "\(message)")
    }
  }

  @Test("P1: a wrong type, a broken key, a malformed file: each is named, and no key is shown")
  func wrong() throws {
    #expect(try error(try contents { $0["type"] = "authorized_user" }).contains("service_account"))
    #expect(try error(try contents { $0["token_uri"] = "ftp://x" }).contains("token_uri"))
    let broken = try error(try contents { $0["private_key"] = "-----BEGIN PRIVATE KEY-----\nSECRETSECRET\n" })
    #expect(broken.contains("private_key") && !broken.contains("SECRET"))
    #expect(try error(Data("{".utf8)).contains("key.json"))
    #expect(throws: ServiceAccount.InvalidFile.self) { try ServiceAccount(file: "/nowhere/key.json") }
  }

  @Test("T4: a printed account shows no key")
  func printing() throws {
    let data = try contents { _ in }
    let account = try ServiceAccount(contents: data, name: "key.json")
    var dumped = ""
    dump(account, to: &dumped)
    for text in ["\(account)", String(reflecting: account), dumped] { #expect(!text.contains("PRIVATE")) }
  }
}
