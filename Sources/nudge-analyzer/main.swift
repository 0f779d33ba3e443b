import Foundation
import Analyzer

exit(AnalyzerService.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
