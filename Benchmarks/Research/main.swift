import Foundation
import NudgeSchema
import ServiceKit

// Measures on annotated chat logs the effects of attention, budgets, policies and feedback: the figures of docs/relevance.md and
// docs/attention.md. And plays a recorded day, which a change that keeps behaviour does not change.
let process = ProcessInfo.processInfo
endProcess(
  CommandDispatcher(
    program: "nudge-research",
    abstract: "Measures on chat logs what rules of the analyzer change for people, and what the stages make of a day.",
    version: NudgeVersion.current,
    commands: [
      AttentionCommand.command, BudgetCommand.command, CostCommand.command, DayCommand.command, LearningCommand.command,
    ]
  ).run(
    Array(ProcessArguments.all().dropFirst()), environment: process.environment, output: { print($0) },
    errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }))
