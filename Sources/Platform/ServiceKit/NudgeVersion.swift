/// The version of all programs.
public enum NudgeVersion {
  /// The output of `--version`. CHANGELOG.md has a section for this version.
  public static let current = "0.3.0"
}
