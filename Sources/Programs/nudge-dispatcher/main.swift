import Dispatcher
import ServiceKit

DispatcherService.assembly.program().runProcess()
