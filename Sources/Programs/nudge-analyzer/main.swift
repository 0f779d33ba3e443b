import Analyzer
import ServiceKit

AnalyzerService.assembly.program().runProcess()
