/// The version of all of Nudge's programs.
public enum NudgeVersion {
  /// What `--version` prints.
  public static let current = "0.1.0"
}
