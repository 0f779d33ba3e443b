/// Suggests the name that a mistyped one probably stands for.
public enum NearestName {
  /// The candidate with the smallest edit distance, up to a third of its length or two.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    let near = candidates.map { (name: $0, edits: edits(from: name, to: $0)) }
      .filter { $0.edits <= max(2, $0.name.count / 3) }
    return near.min { ($0.edits, $0.name) < ($1.edits, $1.name) }?.name
  }

  /// Insertions, removals, replacements and swaps of neighbours.
  private static func edits(from left: String, to right: String) -> Int {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    // Long input is no typing error, and the table is quadratic.
    guard left.count <= 100, right.count <= 100 else { return max(left.count, right.count) }
    var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
    for row in 0...left.count { table[row][0] = row }
    for column in 0...right.count { table[0][column] = column }
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    for row in 1...left.count {
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        var fewest = min(table[row - 1][column] + 1, table[row][column - 1] + 1)
        fewest = min(fewest, table[row - 1][column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          fewest = min(fewest, table[row - 2][column - 2] + 1)
        }
        table[row][column] = fewest
      }
    }
    return table[left.count][right.count]
  }
}
