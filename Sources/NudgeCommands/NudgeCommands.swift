// NudgeCommands
