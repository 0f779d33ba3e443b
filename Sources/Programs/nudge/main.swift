import NudgeCommands
import ServiceKit

endProcess(NudgeCLI.main())
