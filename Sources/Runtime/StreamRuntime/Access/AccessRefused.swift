/// The service's user lacks permissions that its stage needs. The description is one line with the commands that grant them.
struct AccessRefused: Error, CustomStringConvertible {
  let description: String

  /// nil where nothing is missing.
  init?(_ report: AccessReport, _ servers: String, _ properties: [String: String]) {
    guard let sentence = report.sentence else { return nil }
    let principal = AccessReport.principal(properties)
    description =
      "access rules are missing for \(principal): \(sentence). An administrator adds them with: "
      + report.commands(servers: servers, principal: principal).joined(separator: "; ")
  }
}
