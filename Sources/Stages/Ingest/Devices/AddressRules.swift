import NudgeSchema
import WebPush

extension UserEvent {
  /// Holds the event against its schema and, of a registration, the address that texts will go to against the rules. Throws the first
  /// broken one.
  func validate(_ rules: IngestRules) throws(SchemaViolation) {
    try validate()
    guard case .deviceRegistered(let device) = body else { return }
    if let webPush = device.webPush {
      do {
        _ = try rules.endpoints.endpoint(webPush.endpoint)
      } catch {
        throw SchemaViolation(field: "webPush.endpoint", rule: "\(error)")
      }
      try Self.requireKeys(webPush.p256dh, webPush.auth, of: "webPush")
    }
    if let sealing = device.sealing { try Self.requireKeys(sealing.p256dh, sealing.auth, of: "sealing") }
  }

  /// The schema sees their form; a point has to be on the curve as well.
  private static func requireKeys(_ p256dh: String, _ auth: String, of field: String) throws(SchemaViolation) {
    do throws(WebPushKeys.Invalid) {
      _ = try WebPushKeys(p256dh: p256dh, auth: auth)
    } catch {
      throw SchemaViolation(field: "\(field).\(error.rawValue)", rule: error.rule)
    }
  }
}
