// NudgeClient
