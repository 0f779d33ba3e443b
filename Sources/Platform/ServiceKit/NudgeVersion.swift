/// The version of all programs.
public enum NudgeVersion {
  /// What `--version` prints; CHANGELOG.md has a section of this number.
  public static let current = "0.3.0"
}
