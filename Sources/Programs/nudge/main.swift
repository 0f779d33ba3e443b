import NudgeCommands
import NudgeLab
import ServiceKit

endProcess(NudgeCLI(adding: LabCommands.all).main())
