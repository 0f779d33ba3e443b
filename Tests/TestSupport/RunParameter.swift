import Foundation

/// A number that whoever starts the tests gives in the environment; nil where it is not given.
///
/// Ends the run with status 2 where it is no such number: a run of other seeds than those asked for would prove nothing and
/// look right.
public func runParameter<Number: LosslessStringConvertible>(_ name: String) -> Number? {
  guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
  guard let number = Number(text) else {
    let kind = Number.self == Double.self ? "a number" : "a whole number from 0 on"
    FileHandle.standardError.write(Data("\(name)=\(text): this must be \(kind)\n".utf8))
    exit(2)
  }
  return number
}
