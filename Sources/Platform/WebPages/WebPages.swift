import CWebPages
import Foundation
package import HTTPServer

/// The static files of a page that the program contains.
package struct WebPages: Sendable {
  /// A file.
  package struct File: Sendable {
    /// The value of Content-Type.
    package let type: String
    package let bytes: [UInt8]
  }

  /// The operator's console.
  package static let console = WebPages(folder: "console")
  /// The emulator's page with phones.
  package static let phones = WebPages(folder: "phones")

  /// All files by their names below the page's address.
  package let files: [String: File]

  private init(folder: String) {
    var files: [String: File] = [:]
    for index in 0..<web_page_count() {
      let page = web_page_at(index)
      guard String(cString: page.folder) == folder else { continue }
      files[String(cString: page.name)] = File(
        type: String(cString: page.type), bytes: Array(UnsafeBufferPointer(start: page.bytes, count: page.size)))
    }
    self.files = files
  }

  /// The answer with a file, or 404 if there is none.
  package func answer(_ name: String) -> HTTPServerResponse {
    guard let file = files[name] else { return .error(404, code: "not_found", message: "there is no such page") }
    return HTTPServerResponse(headers: [("Content-Type", file.type)], body: file.bytes)
  }

  /// Scheme, host and port of an address, in the form of a page's origin in headers; nil if the text is not an address.
  package static func origin(of address: String) -> String? {
    guard let parts = URLComponents(string: address), let scheme = parts.scheme, let host = parts.host else {
      return nil
    }
    return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
  }

  /// The headers of every answer. They forbid content from elsewhere, and keep texts of a page from becoming markup or
  /// a script.
  ///
  /// - Parameters:
  ///   - connect: Origins to which scripts may connect besides the page's own.
  ///   - frames: Origins of pages that it may embed.
  ///   - embeddedBy: Origins of pages that may embed it.
  package static func headers(
    connect: [String] = [], frames: [String] = [], embeddedBy: [String] = []
  ) -> [(name: String, value: String)] {
    func list(_ origins: [String]) -> String { origins.isEmpty ? "'none'" : origins.joined(separator: " ") }
    var headers: [(name: String, value: String)] = [
      (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          + "connect-src \(list(["'self'"] + connect)); frame-src \(list(frames)); base-uri 'none'; form-action 'none'; "
          + "frame-ancestors \(list(embeddedBy)); require-trusted-types-for 'script'; trusted-types 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
    if embeddedBy.isEmpty {
      headers += [("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin")]
    }
    return headers
  }
}
