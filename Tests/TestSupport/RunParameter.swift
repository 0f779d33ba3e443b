import Foundation

/// A number from the environment of the test run; nil if it is not set.
///
/// Ends the run with status 2 if the text is not a valid number: a run with other seeds than the requested ones would prove nothing
/// and look right.
public func runParameter<Number: LosslessStringConvertible>(_ name: String) -> Number? {
  guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
  guard let number = Number(text) else {
    let kind = Number.self == Double.self ? "a number" : "a whole number from 0 on"
    FileHandle.standardError.write(Data("\(name)=\(text): this must be \(kind)\n".utf8))
    exit(2)
  }
  return number
}
