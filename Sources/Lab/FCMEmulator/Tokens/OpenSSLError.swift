internal import COpenSSL

extension FCMEmulatorError {
  /// The error of a failed operation, with the errors of this thread's OpenSSL queue, which is emptied.
  static func openSSL(_ operation: String) -> FCMEmulatorError {
    var reasons: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
    }
    return FCMEmulatorError(
      "\(operation) failed" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: "; ")))
  }
}
