// NudgeSchema
