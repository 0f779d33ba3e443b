import Foundation
import JSONCodec
import NudgeSchema
import ServiceKit
import TestSupport

@testable import HTTPServer
@testable import Ingest

/// All that comes from outside into the HTTP API and is read by our own code (libmicrohttpd reads the requests themselves), and the
/// rules that must hold of any bytes. A test feeds it from the corpus.
///
/// The first byte of an input says what the others are.
final class HTTPInputs {
  /// The kind of an input.
  enum Kind: UInt8, CaseIterable {
    /// A body.
    case json = 0x6A
    case lines = 0x6C
    case gzip = 0x67
    /// An `Authorization` header.
    case authorization = 0x61
    /// A token behind `Bearer`.
    case token = 0x74
    /// A request's path and query.
    case target = 0x70
    /// A `Content-Type`.
    case mediaType = 0x6D
    /// A `traceparent`.
    case trace = 0x72
    /// `--api-keys-file`.
    case apiKeys = 0x6B
    /// `--jwt-keys-file`.
    case tokenKeys = 0x73
  }

  static let apiKey = "a-key-of-thirty-two-characters-or-more"
  /// Within the time of `tokens`.
  private static let now: Int64 = 1_950_000_000
  private static let tokens = [TokenVectors.rs256, TokenVectors.es256]

  private let parser = JSONParser(maximumDepth: 1_024, maximumBytes: RequestBody.maxBytes)
  private let reading = EventReading(IngestRules())
  private let credentials: Credentials
  private let tokenKeys: JSONWebKeySet

  /// - Parameters:
  ///   - directory: where files of keys are written.
  ///   - otherKeys: lines of the file of API keys beside the one that may be let in.
  init(directory: String, otherKeys: String = "") throws {
    let keys = directory + "/keys"
    let tokenKeys = directory + "/jwks"
    try Data("chat \(Self.apiKey)\n\(otherKeys)".utf8).write(to: URL(fileURLWithPath: keys))
    try Data(TokenVectors.keySet.utf8).write(to: URL(fileURLWithPath: tokenKeys))
    credentials = try Credentials(
      apiKeysFile: keys, tokenKeysFile: tokenKeys, issuer: "https://accounts.example", audience: "nudge",
      logger: Logger(label: "fuzz", sink: LogCapture().sink))
    self.tokenKeys = try JSONWebKeySet(contents: Array(TokenVectors.keySet.utf8))
  }

  /// Reads an input; returns the rule it breaks, nil if none.
  func violation(of input: [UInt8]) -> String? {
    guard let kind = input.first.flatMap({ Kind(rawValue: $0) }) else { return nil }
    let bytes = Array(input.dropFirst())
    switch kind {
    case .json: return body(bytes, type: RequestBody.json, encoding: nil)
    case .lines: return body(bytes, type: RequestBody.lines, encoding: nil)
    case .gzip: return body(bytes, type: RequestBody.json, encoding: "gzip")
    case .apiKeys: return apiKeys(bytes)
    case .tokenKeys:
      _ = try? JSONWebKeySet(contents: bytes)
      return nil
    case .authorization, .token, .target, .mediaType, .trace:
      // libmicrohttpd gives headers and targets up to the first NUL.
      return text(kind, String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }
  }

  private func text(_ kind: Kind, _ text: String) -> String? {
    switch kind {
    case .authorization: caller(text)
    case .token: caller("Bearer \(text)") ?? token(text)
    case .target: target(text)
    case .trace: trace(text)
    default:
      HTTPRoute(.post, "/", contentTypes: [RequestBody.json], handler: { _ in .error(500, code: "", message: "") })
        .takes(contentType: text) && !text.lowercased().contains("application/json")
        ? "\(text) is taken for JSON" : nil
    }
  }

  // MARK: Bodies

  /// A body is refused with its status, or it is events that lie one behind the other in it, each the JSON that the parser saw
  /// there, and each accepted or refused with a code.
  func body(_ body: [UInt8], type: String, encoding: String?) -> String? {
    do {
      let body = try RequestBody.decoded(body, encoding: encoding)
      if encoding != nil, body.count > RequestBody.maxBytes { return "inflated to \(body.count) bytes" }
      let items = try RequestBody.items(of: body, contentType: type, parser: parser)
      guard (1...RequestBody.maxEvents).contains(items.count) else { return "\(items.count) events" }
      var end = 0
      for item in items {
        guard item.range.lowerBound >= end, item.range.upperBound <= body.count, !item.range.isEmpty else {
          return "an event is at \(item.range), behind \(end) of \(body.count)"
        }
        end = item.range.upperBound
        guard item.fault == nil else { continue }
        let bytes = Array(body[item.range])
        let found = try parser.parse(bytes) { ($0["type"]?.string, $0["eventId"]?.string) }
        guard Self.same(found.0, item.type), Self.same(found.1, item.eventId) else { return "not the event: \(item)" }
        do {
          if try reading.read(bytes, type: item.type, from: .user(id: "ann"), now: 0).key.isEmpty {
            return "an event without a key"
          }
        } catch let rejection as Rejection {
          if rejection.message.isEmpty { return "refused without a reason" }
        }
      }
      return nil
    } catch let refusal as BodyRefusal {
      return [400, 413, 415].contains(refusal.status) && !refusal.message.isEmpty ? nil : "refused with \(refusal)"
    } catch {
      return "\(error)"
    }
  }

  private static func same(_ a: String?, _ b: String?) -> Bool { a.map { Array($0.utf8) } == b.map { Array($0.utf8) } }

  // MARK: Credentials

  /// Nobody is let in but by the key or a token that we made, to the last byte; a refusal repeats nothing of what was presented.
  private func caller(_ authorization: String) -> String? {
    let presented = authorization.drop { $0 != " " }.drop { $0 == " " }
    do throws(Unauthorized) {
      switch try credentials.session(authorization: authorization, now: Self.now).caller {
      case .backend(let name):
        return name == "chat" && presented.utf8.elementsEqual(Self.apiKey.utf8)
          ? nil : "\(presented) is let in as \(name)"
      case .user(let id):
        return id == "u-7" && Self.tokens.contains { presented.utf8.elementsEqual($0.utf8) }
          ? nil : "\(presented) is let in as \(id)"
      }
    } catch {
      if error.message.isEmpty { return "refused without a reason" }
      return presented.utf8.count >= 12 && Array(error.message.utf8).firstRange(of: Array(presented.utf8)) != nil
        ? "the refusal repeats what was sent" : nil
    }
  }

  private func token(_ token: String) -> String? {
    let claims = try? JSONWebToken.verify(
      token, keys: tokenKeys, issuer: nil, audience: nil, now: Self.now)
    return claims == nil || Self.tokens.contains { token.utf8.elementsEqual($0.utf8) } ? nil : "\(token) is believed"
  }

  /// A file of keys is read, or refused without any of its words in the reason: a name may be a key in the wrong place.
  private func apiKeys(_ contents: [UInt8]) -> String? {
    do throws(SettingsError) {
      _ = try APIKeys(contents: contents)
      return nil
    } catch {
      let words = String(decoding: contents, as: UTF8.self).split { $0.isNewline || $0 == " " || $0 == "\t" }
      // No word of our own is as long. Bytes: Foundation finds a text behind characters that it takes for nothing, such as NUL.
      let reason = Array(error.description.utf8)
      return words.contains { $0.utf8.count >= 12 && reason.firstRange(of: Array($0.utf8)) != nil }
        ? "the reason has a word of the file: \(error)" : nil
    }
  }

  // MARK: Heads

  /// A path is as it was sent, and has a segment behind each slash.
  private func target(_ text: String) -> String? {
    guard let target = RequestTarget(text) else { return nil }
    let isPart = Array(text.utf8).firstRange(of: Array(target.path.utf8)) != nil
    guard target.path.utf8.first == 0x2F, isPart || target.path == "/" else {
      return "\(text) has the path \(target.path)"
    }
    return target.segments.count == target.path.utf8.count(where: { $0 == 0x2F }) ? nil : "\(target.segments)"
  }

  /// Records carry a traceparent of version 0.
  private func trace(_ text: String) -> String? {
    guard let context = TraceContext(traceparent: text) else { return nil }
    let written = context.traceparent
    return written.utf8.count == 55 && TraceContext(traceparent: written)?.traceparent == written
      ? nil : "\(text) goes along as \(written)"
  }
}
