import Ingest
import ServiceKit

IngestService.assembly.program().runProcess()
