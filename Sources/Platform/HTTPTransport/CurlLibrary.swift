internal import CLibcurl

/// The libcurl this process runs with.
enum CurlLibrary {
  /// `curl_global_init`'s result; asked for once, before anything else of the library.
  static let initialization: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  /// Its version as text, and as 0xMMmmpp.
  static let version: (text: String, number: UInt32) = {
    guard let info = nudge_version_info() else { return ("unknown", 0) }
    return (info.pointee.version.map { String(cString: $0) } ?? "unknown", info.pointee.version_num)
  }()

  /// The oldest version known not to send RST_STREAM for streams that ended in good order. 8.14.1 was measured (no failure in
  /// 240,000 requests), and 7.88.1 with one lost connection every thousand; those between count as old until measured.
  static let firstWithoutResets: UInt32 = 0x080E00

  /// The text of a result.
  static func text(of code: CURLcode) -> String {
    curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown error"
  }

  /// The text of a multi handle's result.
  static func text(of code: CURLMcode) -> String {
    curl_multi_strerror(code).map { String(cString: $0) } ?? "unknown error"
  }
}
