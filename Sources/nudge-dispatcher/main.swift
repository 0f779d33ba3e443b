import Foundation
import Dispatcher
import ServiceKit

exit(DispatcherService.assembly.program().main())
