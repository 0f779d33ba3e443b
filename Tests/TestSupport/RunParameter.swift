import Foundation

/// A number that whoever starts the tests gives in the environment; nil where it is not given.
///
/// Ends the run where it is no number: a run of other seeds than those asked for would prove nothing and look right.
public func runParameter<Number: LosslessStringConvertible>(_ name: String) -> Number? {
  guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return nil }
  guard let number = Number(text) else { fatalError("\(name)=\(text): this must be a number") }
  return number
}
