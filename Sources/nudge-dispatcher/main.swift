import Foundation
import Dispatcher

exit(DispatcherService.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
