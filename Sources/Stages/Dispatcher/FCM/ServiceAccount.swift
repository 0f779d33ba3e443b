public import Foundation
import ServiceKit

/// A Google service account, from the JSON file that Google's console creates. Printing it shows no key.
public struct ServiceAccount: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Why a file is not a service account. Names the file and the field, never a value.
  public struct InvalidFile: Error, Sendable, Equatable, CustomStringConvertible {
    /// The problem, and how to fix it.
    public let description: String
  }

  /// Google's token server, for files that name none.
  public static let googleTokenURI = "https://oauth2.googleapis.com/token"

  /// The project to whose devices it sends.
  public let projectId: String
  public let clientEmail: String
  /// Which of the account's keys this is.
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

  /// Reads a file's content; errors call it `name`.
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

  /// The form to post to `tokenURI` for an access token (RFC 7523), valid for an hour from `now`, in seconds.
  func assertionForm(now: Int64) throws(JSONWebTokenError) -> [UInt8] {
    let claims = JSONWebClaims(
      issuer: clientEmail, audience: [tokenURI], expiresAt: now + 3600, issuedAt: now,
      scope: "https://www.googleapis.com/auth/firebase.messaging")
    let assertion = try JSONWebToken.sign(claims, key: privateKey, kid: privateKeyId)
    // Base64url and dots need no escapes.
    return Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)
  }
}
