/// The service's user may not do what its stage does, as a log or `--check` says it: one line, with the commands that mend it.
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
