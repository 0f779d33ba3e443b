import Foundation

extension ServiceAccount {
  /// The files of `--fcm-credentials`: paths separated by commas; of a folder every `.json` file, by name. At least one.
  static func files(in paths: String) throws(InvalidFile) -> [String] {
    var all: [String] = []
    for path in paths.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) where !path.isEmpty {
      all += try files(at: path)
    }
    guard !all.isEmpty else { throw InvalidFile(description: "--fcm-credentials names no file") }
    return all
  }

  /// The accounts of these files, each of another project.
  static func all(in files: [String]) throws(InvalidFile) -> [ServiceAccount] {
    var accounts: [ServiceAccount] = []
    for file in files {
      let account = try ServiceAccount(file: file)
      if let other = accounts.first(where: { $0.projectId == account.projectId }) {
        throw InvalidFile(
          description:
            "FCM credentials \(file) are of the project \(account.projectId), as those of \(other.clientEmail) "
            + "are; --fcm-credentials takes one service account a project")
      }
      accounts.append(account)
    }
    return accounts
  }

  private static func files(at path: String) throws(InvalidFile) -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      return [path]
    }
    // An unreadable folder and an empty one need the same fix.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let files = names.filter { $0.hasSuffix(".json") }.sorted().map { "\(path)/\($0)" }
    guard !files.isEmpty else {
      throw InvalidFile(
        description: "FCM credentials \(path): the folder cannot be read or has no .json file; "
          + "--fcm-credentials must name service accounts' JSON files, or a folder of them")
    }
    return files
  }
}
