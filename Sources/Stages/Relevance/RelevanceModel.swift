import CRelevance

/// An ensemble of decision trees over the bytes of `FeatureLayout`, compiled into a table.
///
/// All sums are integers, so the same features give the same score on every machine, and a replay decides the same.
public struct RelevanceModel: Sendable {
  /// One node of a tree. Its left child is the next node.
  struct Node: Sendable {
    /// The feature that it tests; `leaf` if the tree ends here.
    var feature: UInt8
    /// The left child follows if the feature is at most this value.
    var threshold: UInt8
    /// The distance of the right child from this node.
    var right: UInt16
    /// The value of a leaf. For other nodes the mean of the leaves below, weighted by the number of training examples that reached them.
    var value: Int32

    static let leaf: UInt8 = 255
  }

  /// An error in a model's table.
  public struct Damage: Error, CustomStringConvertible {
    /// The rule that the table breaks.
    public let description: String
  }

  /// Log-odds are counted in 65,536ths.
  public static let unit: Int32 = 65_536

  /// The name of the weights, which every decision contains.
  public let version: String
  /// The version of the features it was trained on.
  public let layout: UInt8
  /// The log-odds of a message about which nothing is known, in units.
  public let bias: Int32
  public let featureCount: Int
  private let nodes: [Node]
  private let roots: [Int32]

  /// Reads a table: `layout`, features, trees (2 bytes), bias (4 bytes), then for each tree its number of nodes (2 bytes) and its nodes of
  /// 8 bytes each, all little-endian.
  public init(version: String, table: [UInt8]) throws(Damage) {
    var place = 0
    func read(_ count: Int) throws(Damage) -> UInt32 {
      guard place + count <= table.count else { throw Damage(description: "the table of \(version) is cut off") }
      var value: UInt32 = 0
      for index in 0..<count { value |= UInt32(table[place + index]) << UInt32(8 * index) }
      place += count
      return value
    }
    let layout = UInt8(try read(1))
    let featureCount = Int(try read(1))
    let trees = Int(try read(2))
    let bias = Int32(bitPattern: try read(4))
    var nodes: [Node] = []
    var roots: [Int32] = []
    for _ in 0..<trees {
      let first = nodes.count
      let count = Int(try read(2))
      guard count > 0 else { throw Damage(description: "a tree of \(version) is empty") }
      roots.append(Int32(first))
      for place in 0..<count {
        let node = Node(
          feature: UInt8(try read(1)), threshold: UInt8(try read(1)), right: UInt16(try read(2)),
          value: Int32(bitPattern: try read(4)))
        // Children follow their parent within their tree, so a walk always ends and never leaves the table.
        guard
          node.feature == Node.leaf
            || Int(node.feature) < featureCount && node.right > 1 && place + Int(node.right) < count
        else { throw Damage(description: "node \(place) of a tree of \(version) leads nowhere") }
        nodes.append(node)
      }
      guard nodes[nodes.count - 1].feature == Node.leaf else {
        throw Damage(description: "a tree of \(version) does not end")
      }
    }
    guard place == table.count, featureCount <= 200 else {
      throw Damage(description: "the table of \(version) has a length that fits no trees")
    }
    self.version = version
    self.layout = layout
    self.bias = bias
    self.featureCount = featureCount
    self.nodes = nodes
    self.roots = roots
  }

  /// The compiled model. The training script wrote its table, and a test reads it completely.
  public static let current: RelevanceModel = {
    let version = String(cString: relevance_about()).prefix { $0 != "\n" }
    return (try? RelevanceModel(version: String(version), table: compiledTable)) ?? RelevanceModel(version: "none")
  }()

  static var compiledTable: [UInt8] {
    var size = 0
    let trees = relevance_trees(&size)
    return Array(UnsafeBufferPointer(start: trees, count: size))
  }

  /// A model without trees, for which every message is one of many.
  private init(version: String) {
    self.version = version
    layout = FeatureLayout.version
    bias = -3 * Self.unit
    featureCount = FeatureLayout.names.count
    nodes = []
    roots = []
  }

  /// How many trees there are.
  public var treeCount: Int { roots.count }

  /// The log-odds, in units, that the message is for the person.
  ///
  /// - Parameter features: `featureCount` bytes. For any other number the result is `bias`.
  public func logOdds(_ features: [UInt8]) -> Int32 {
    guard features.count == featureCount else { return bias }
    var sum = bias
    nodes.withUnsafeBufferPointer { nodes in
      features.withUnsafeBufferPointer { features in
        for root in roots {
          var place = Int(root)
          while nodes[place].feature != Node.leaf {
            let node = nodes[place]
            place += features[Int(node.feature)] <= node.threshold ? 1 : Int(node.right)
          }
          sum &+= nodes[place].value
        }
      }
    }
    return sum
  }

  /// The result of `logOdds`, and what each feature added to it, in units: by how much each test changed the mean of the leaves below.
  /// `contributions` receives `featureCount` numbers. Their sum, together with the bias and the trees' own means (`start`), is the result.
  public func explain(_ features: [UInt8], contributions: inout [Int32]) -> Int32 {
    contributions.removeAll(keepingCapacity: true)
    contributions.append(contentsOf: repeatElement(0, count: featureCount))
    guard features.count == featureCount else { return bias }
    var sum = bias
    nodes.withUnsafeBufferPointer { nodes in
      features.withUnsafeBufferPointer { features in
        contributions.withUnsafeMutableBufferPointer { contributions in
          for root in roots {
            var place = Int(root)
            var node = nodes[place]
            while node.feature != Node.leaf {
              place += features[Int(node.feature)] <= node.threshold ? 1 : Int(node.right)
              let next = nodes[place]
              contributions[Int(node.feature)] &+= next.value &- node.value
              node = next
            }
            sum &+= node.value
          }
        }
      }
    }
    return sum
  }

  /// The log-odds before any feature is tested: the bias and the means of all trees.
  public var start: Int32 { roots.reduce(bias) { $0 &+ nodes[Int($1)].value } }
}

/// Log-odds in units as a probability between 0 and 1.
///
/// Uses only IEEE 754 additions, multiplications and divisions, so that every machine computes the same digits.
public func probability(ofLogOdds logOdds: Int32) -> Double {
  let x = min(30, max(-30, Double(logOdds) / Double(RelevanceModel.unit)))
  // e^|x| = (e^(|x| / 64))^64; the inner power is computed by its series.
  let small = abs(x) / 64
  var term = 1.0
  var power = 1.0
  for n in 1...12 {
    term = term * small / Double(n)
    power += term
  }
  for _ in 0..<6 { power *= power }
  return x >= 0 ? power / (1 + power) : 1 / (1 + power)
}

/// The log-odds of a probability, in natural logarithms, within ±12. Like `probability` it uses only additions, multiplications and
/// divisions.
public func logOdds(_ probability: Double) -> Double {
  let p = min(0.999_994, max(0.000_006, probability))
  // ln(p / (1 - p)): halve or double into [2/3, 4/3], then 2 artanh((x - 1) / (x + 1)).
  var x = p / (1 - p)
  var doublings = 0.0
  while x > 4.0 / 3 {
    x /= 2
    doublings += 1
  }
  while x < 2.0 / 3 {
    x *= 2
    doublings -= 1
  }
  let z = (x - 1) / (x + 1)
  let square = z * z
  var term = z
  var sum = 0.0
  for n in 0..<12 {
    sum += term / Double(2 * n + 1)
    term *= square
  }
  return 2 * sum + doublings * 0.693_147_180_559_945_3
}

/// A group of features that a decision explains together.
public enum RelevanceSignal: Int, CaseIterable, Sendable {
  /// Whether the message addresses the person, somebody else or nobody.
  case named
  /// How recently, and how much, the person wrote.
  case recency
  /// Whether the person's last message asked something.
  case openQuestion
  /// The people the sender has been writing to.
  case senderPartner
  /// Whether sender and person are talking to each other.
  case exchange
  /// The exchange between the person and others.
  case others
  /// Whether the message is about what the person wrote about.
  case topic
  /// The length of the message, and whether it asks a question.
  case text
  /// How the sender has been writing, and how lively the conversation is.
  case senderTurn

  /// The name in decision records.
  public var name: String {
    switch self {
    case .named: "named"
    case .recency: "recency"
    case .openQuestion: "open_question"
    case .senderPartner: "sender_partner"
    case .exchange: "exchange"
    case .others: "others"
    case .topic: "topic"
    case .text: "text"
    case .senderTurn: "sender_turn"
    }
  }

  /// For each feature of `FeatureLayout`, the raw value of its signal.
  static let ofFeatures: [Int] =
    MessageFeature.allCases.map { of($0).rawValue } + PersonFeature.allCases.map { of($0).rawValue }

  private static func of(_ feature: MessageFeature) -> RelevanceSignal {
    switch feature {
    case .addressedCount: .named
    case .length, .question: .text
    case .senderTopic: .topic
    case .layout, .senderAge, .senderMinutes, .senderCount, .senderFirstAge, .senderAsked, .senderLength,
      .senderPartners, .addressingRate, .speakers, .span, .pause:
      .senderTurn
    }
  }

  private static func of(_ feature: PersonFeature) -> RelevanceSignal {
    switch feature {
    case .addressed: .named
    case .rank, .age, .minutes, .count, .firstAge, .length, .sinceSender, .ageDifference: .recency
    case .asked: .openQuestion
    case .senderAddressedAge, .senderAddressedCount, .senderLastAddressed, .partnerAge, .senderLastPartner,
      .othersPartnerAge:
      .senderPartner
    case .addressedSenderAge, .addressedSenderCount, .addressedSenderSince, .lastAddressed, .turns, .senderPartnerAge,
      .lastPartner, .othersSenderPartnerAge, .othersAddressedSenderSince:
      .exchange
    case .addressedOthersCount, .othersAddressedCount, .othersAddressedSince, .addressers, .answersSince: .others
    case .topic, .topicAll, .topicRank: .topic
    }
  }
}

extension RelevanceModel {
  /// The log-odds of a message for a person, and what each signal added to `start`, in units, by the raw value of `RelevanceSignal`.
  public func explainBySignal(_ features: [UInt8]) -> (logOdds: Int32, contributions: [Int32]) {
    var byFeature: [Int32] = []
    let logOdds = explain(features, contributions: &byFeature)
    var bySignal = [Int32](repeating: 0, count: RelevanceSignal.allCases.count)
    for (feature, contribution) in byFeature.enumerated() where feature < RelevanceSignal.ofFeatures.count {
      bySignal[RelevanceSignal.ofFeatures[feature]] &+= contribution
    }
    return (logOdds, bySignal)
  }
}
