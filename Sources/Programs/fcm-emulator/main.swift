import FCMEmulator
import ServiceKit

EmulatorProgram.program.runProcess()
