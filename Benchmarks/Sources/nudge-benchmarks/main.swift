import Foundation

exit(BenchmarkProgram.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
