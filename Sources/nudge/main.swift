import Foundation
import NudgeCommands

exit(NudgeCLI.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
