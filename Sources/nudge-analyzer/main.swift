import Foundation
import Analyzer
import ServiceKit

exit(AnalyzerService.assembly.program().main())
