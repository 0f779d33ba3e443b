import Foundation
import NudgeSchema
import ServiceKit

// Measures on annotated chat logs the effects of attention, budgets, policies and feedback: the figures of docs/relevance.md and
// docs/attention.md.
let process = ProcessInfo.processInfo
endProcess(
  CommandDispatcher(
    program: "nudge-research",
    abstract: "Measures on annotated chat logs what rules of the analyzer change for people.",
    version: NudgeVersion.current,
    commands: [AttentionCommand.command, BudgetCommand.command, CostCommand.command, LearningCommand.command]
  ).run(
    Array(ProcessArguments.all().dropFirst()), environment: process.environment, output: { print($0) },
    errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }))
