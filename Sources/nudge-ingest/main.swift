import Foundation
import Ingest
import ServiceKit

exit(IngestService.assembly.program().main())
