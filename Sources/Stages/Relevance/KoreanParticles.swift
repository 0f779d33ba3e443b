/// Particles that Korean attaches to a noun: `회의는`, `민수야`.
public enum KoreanParticles {
  /// Whether these syllables, up to the end of a word, are particles and nothing else.
  public static func make(_ syllables: ArraySlice<Unicode.Scalar>) -> Bool {
    if syllables.isEmpty { return true }
    // Chains of particles are short; a longer word is not one.
    guard syllables.count <= 8 else { return false }
    return (1...min(longest, syllables.count)).contains { length in
      all.contains(String(String.UnicodeScalarView(syllables.prefix(length)))) && make(syllables.dropFirst(length))
    }
  }

  private static let longest = 4
  private static let all: Set<String> = [
    "은", "는", "이", "가", "을", "를", "의", "에", "에서", "에게", "께", "께서", "한테", "로", "으로", "와", "과", "랑", "이랑", "도", "만", "까지",
    "부터", "마다", "처럼", "보다", "밖에", "조차", "마저", "이나", "나", "든지", "이든지", "요", "이요", "이야", "야", "아", "이다", "다", "입니다",
    "이에요",
    "예요", "이고", "고", "인데", "인가", "인가요", "이라고", "라고", "이라는", "라는", "이란", "란", "이며", "하고", "하는", "하면", "하자", "한다", "해",
    "해요",
    "합니다", "할", "했", "했어", "했어요", "했습니다", "들", "님", "씨", "중", "때", "쯤", "입니까", "이었", "였", "이면", "라면", "이라면", "같은", "대로",
  ]
}
