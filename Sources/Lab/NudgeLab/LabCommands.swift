public import ServiceKit

/// The commands of `nudge` that make load, play phones and run the demo.
public enum LabCommands {
  /// Every command, in the order of the help.
  public static let all: [Command] = [
    LoadCommand.command,
    DemoCommand.command,
    DeviceCommand.command,
    RelevanceCommand.command,
  ]
}
