import Foundation
import Ingest

exit(IngestService.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
