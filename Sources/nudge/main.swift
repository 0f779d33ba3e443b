import Foundation
import NudgeCommands

exit(NudgeCLI.main())
