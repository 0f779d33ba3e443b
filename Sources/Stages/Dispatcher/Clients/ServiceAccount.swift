public import Foundation
import ServiceKit

/// A Google service account from the JSON file of Google's console. Printing it does not reveal the key.
public struct ServiceAccount: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Why a file is not a service account. It names the file and the field, never a value.
  public struct InvalidFile: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problem, and how to fix it.
    public let description: String
  }

  /// Google's token server, for files that name none.
  public static let googleTokenURI = "https://oauth2.googleapis.com/token"

  /// The project of the devices that it can reach.
  public let projectId: String
  public let clientEmail: String
  /// The id of the account's key.
  public let privateKeyId: String
  /// The token server.
  public let tokenURI: String
  /// ``tokenURI`` in logs and errors: scheme, host and port.
  var tokenServer: String { PublicText.origin(of: tokenURI) }
  let privateKey: PrivateKey

  public init(file: String) throws(InvalidFile) {
    let contents: Data
    do {
      contents = try Data(contentsOf: URL(fileURLWithPath: file))
    } catch {
      throw InvalidFile(
        description: "FCM credentials \(file) cannot be read; --fcm-credentials must name a service account's JSON file"
      )
    }
    try self.init(contents: contents, name: file)
  }

  /// Reads a file's content. `name` stands for it in errors.
  public init(contents: Data, name: String) throws(InvalidFile) {
    guard let object = (try? JSONSerialization.jsonObject(with: contents)) as? [String: Any] else {
      throw InvalidFile(description: "FCM credentials \(name) are not a JSON object; use the file as Google gives it")
    }
    func text(_ field: String) throws(InvalidFile) -> String {
      guard let value = object[field] else {
        throw InvalidFile(description: "FCM credentials \(name): \(field) is missing; use the file as Google gives it")
      }
      guard let text = value as? String, !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x0A }) else {
        throw InvalidFile(description: "FCM credentials \(name): \(field) is not a text, or is empty")
      }
      return text
    }
    guard try text("type") == "service_account" else {
      throw InvalidFile(
        description: "FCM credentials \(name): type is not service_account; create a key of a service account")
    }
    projectId = try text("project_id")
    clientEmail = try text("client_email")
    privateKeyId = try text("private_key_id")
    tokenURI = object["token_uri"] == nil ? Self.googleTokenURI : try text("token_uri")
    guard tokenURI.hasPrefix("https://") || tokenURI.hasPrefix("http://") else {
      throw InvalidFile(description: "FCM credentials \(name): token_uri is not an http(s) URL")
    }
    do {
      privateKey = try PrivateKey(pem: try text("private_key"))
    } catch let error as JSONWebTokenError {
      throw InvalidFile(description: "FCM credentials \(name): private_key: \(error)")
    } catch let error as InvalidFile {
      throw error
    } catch {
      throw InvalidFile(description: "FCM credentials \(name): private_key cannot be used")
    }
  }

  /// Name and project.
  public var description: String { "service account \(clientEmail) of \(projectId)" }
  /// As `description`.
  public var debugDescription: String { description }
  /// Name and project.
  public var customMirror: Mirror { Mirror(self, children: ["clientEmail": clientEmail, "projectId": projectId]) }

  /// The form for posting to `tokenURI` to get an access token (RFC 7523). It is valid for an hour from `now`, in seconds.
  func assertionForm(now: Int64) throws(JSONWebTokenError) -> [UInt8] {
    let claims = JSONWebClaims(
      issuer: clientEmail, audience: [tokenURI], expiresAt: now + 3600, issuedAt: now,
      scope: "https://www.googleapis.com/auth/firebase.messaging")
    let assertion = try JSONWebToken.sign(claims, key: privateKey, kid: privateKeyId)
    // Base64url and dots need no escapes.
    return Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)
  }
}

extension ServiceAccount {
  /// The files of `--fcm-credentials`, which has paths separated by commas. A folder stands for its `.json` files, ordered by name. At
  /// least one file.
  static func files(in paths: String) throws(InvalidFile) -> [String] {
    var all: [String] = []
    for path in paths.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) where !path.isEmpty {
      all += try files(at: path)
    }
    guard !all.isEmpty else { throw InvalidFile(description: "--fcm-credentials names no file") }
    return all
  }

  /// The accounts of these files. Each must have a different project.
  static func all(in files: [String]) throws(InvalidFile) -> [ServiceAccount] {
    var accounts: [ServiceAccount] = []
    for file in files {
      let account = try ServiceAccount(file: file)
      if let other = accounts.first(where: { $0.projectId == account.projectId }) {
        throw InvalidFile(
          description:
            "FCM credentials \(file) are of the project \(account.projectId), as those of \(other.clientEmail) "
            + "are; --fcm-credentials takes one service account a project")
      }
      accounts.append(account)
    }
    return accounts
  }

  private static func files(at path: String) throws(InvalidFile) -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      return [path]
    }
    // An unreadable folder and an empty one need the same fix.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let files = names.filter { $0.hasSuffix(".json") }.sorted().map { "\(path)/\($0)" }
    guard !files.isEmpty else {
      throw InvalidFile(
        description: "FCM credentials \(path): the folder cannot be read or has no .json file; "
          + "--fcm-credentials must name service accounts' JSON files, or a folder of them")
    }
    return files
  }
}

/// The files of `--fcm-credentials`, which are read again when they change.
struct AccountFiles {
  private var files: [WatchedFile]
  /// Files that could not be used, with the reason that was already reported.
  private var failures: [String: String] = [:]

  /// A file that has changed.
  enum Change {
    case account(ServiceAccount, path: String)
    case unusable(path: String, reason: String)
  }

  init(paths: [String]) { files = paths.map { WatchedFile(path: $0) } }

  /// Marks the current content of the files as read.
  mutating func markRead() {
    for index in files.indices { _ = try? files[index].changed(force: true) }
  }

  /// The files that have changed since the last call, each as an account or with the reason why it cannot be used.
  mutating func changes() -> [Change] {
    var changes: [Change] = []
    for index in files.indices {
      let path = files[index].path
      do {
        guard let contents = try files[index].changed(force: failures[path] != nil) else { continue }
        changes.append(.account(try ServiceAccount(contents: Data(contents), name: path), path: path))
        failures[path] = nil
      } catch {
        let reason = "\(error)"
        // A file that stays unusable is tried again but reported only once.
        if failures.updateValue(reason, forKey: path) != reason {
          changes.append(.unusable(path: path, reason: reason))
        }
      }
    }
    return changes
  }
}
