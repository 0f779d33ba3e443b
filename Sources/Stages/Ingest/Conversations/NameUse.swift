import Relevance

/// Where a word that may be a name is used as one: called out, set off by a comma, or capitalised where only names are.
struct NameUse {
  private let scalars: [Unicode.Scalar]
  private let capitals: [Bool]
  /// Whether all or nearly all words are capitalised, so that capitals mean nothing.
  private let capitalsSayNothing: Bool

  init(_ text: String) {
    (scalars, capitals) = TextFolding.foldWithCapitals(text)
    var (words, capitalWords, small) = (0, 0, 0)
    for index in scalars.indices where scalars[index].isWordPart {
      if !capitals[index] { small += 1 }
      guard index == 0 || !scalars[index - 1].isWordPart else { continue }
      words += 1
      if capitals[index] { capitalWords += 1 }
    }
    capitalsSayNothing = small == 0 || words >= 4 && 4 * capitalWords >= 3 * words
  }

  /// Whether the word at a range of the folded text is used as a name.
  func isName(_ place: Range<Int>) -> Bool {
    guard place.upperBound <= scalars.count else { return false }
    let before = scalars[..<place.lowerBound].last { $0 != " " }
    let after = scalars[place.upperBound...].first { $0 != " " }
    let (startsClause, endsClause) = (before.map(Self.isSign) ?? true, after.map(Self.isSign) ?? true)
    if before == "@" || isGenitive(place.upperBound) { return true }
    let (previous, next) = (word(before: place.lowerBound), word(after: place.upperBound))
    let name = word(place)
    if CommonNames.months.contains(name), isDate(previous, next) { return false }
    // Mark, can you look? – Can you look, Mark?
    if startsClause, endsClause { return true }
    guard scalars[place].contains(where: { $0.properties.isCased }) else {
      let rest = scalars[place.upperBound...].drop { $0 == " " }
      return CommonNames.honorifics.contains { rest.starts(with: $0.unicodeScalars) }
    }
    let isCalled = previous.map { CommonNames.greetings.contains($0) } ?? false
    if startsClause || isCalled, let next, !endsClause {
      // Mark where are you – Mark the date; Will can you come – Will you come
      let isAuxiliary = CommonNames.auxiliaries.contains(name)
      if (isAuxiliary ? CommonNames.behindAuxiliary : CommonNames.behindCalled).contains(next) { return true }
      if startsClause || !isAuxiliary { return isCalled && !CommonNames.determiners.contains(next) }
    } else if isCalled {
      return true
    }
    guard capitals[place.lowerBound], !capitalsSayNothing, !startsClause else { return false }
    return previous.map { !CommonNames.determiners.contains($0) } ?? true
  }

  /// Mark’s bike, Deniz’e sor
  private func isGenitive(_ end: Int) -> Bool {
    end + 1 < scalars.count && (scalars[end] == "'" || scalars[end] == "’") && scalars[end + 1].isWordPart
      && !CommonNames.contractions.contains(word(after: end) ?? "")
  }

  /// 5 May, in May, May 5; April, May and June
  private func isDate(_ previous: String?, _ next: String?) -> Bool {
    func isNumber(_ word: String) -> Bool {
      word.unicodeScalars.first.map { (0x30...0x39).contains($0.value) } ?? false
    }
    if let next, isNumber(next) || CommonNames.months.contains(next) { return true }
    guard let previous else { return false }
    return isNumber(previous) || CommonNames.beforeMonths.contains(previous) || CommonNames.months.contains(previous)
  }

  private static func isSign(_ scalar: Unicode.Scalar) -> Bool { !scalar.isWordPart && !scalar.isUnspaced }

  private func word(_ place: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[place])) }

  private func word(after end: Int) -> String? {
    let word = scalars[end...].drop { !$0.isWordPart }.prefix { $0.isWordPart || $0 == "'" }
    return word.isEmpty ? nil : String(String.UnicodeScalarView(word))
  }

  private func word(before start: Int) -> String? {
    let word = scalars[..<start].reversed().drop { !$0.isWordPart }.prefix { $0.isWordPart }
    return word.isEmpty ? nil : String(String.UnicodeScalarView(word.reversed()))
  }
}

/// First names that are also words of a language, with neighbouring words that show which of the two is meant. All are folded.
enum CommonNames {
  /// Whether a name is also a word, or so short that it may be one.
  static func isCommonWord(_ name: [Unicode.Scalar]) -> Bool {
    if name.count == 1 { return name[0].isWordPart || name[0].isUnspaced }
    if name.count == 2, name.allSatisfy({ $0.value < 0x80 && $0.isWordPart }) { return true }
    return words.contains(String(String.UnicodeScalarView(name)))
  }

  static func isTitle(_ word: [Unicode.Scalar]) -> Bool { titles.contains(String(String.UnicodeScalarView(word))) }

  private static func set(_ words: String) -> Set<String> {
    Set(words.split { $0 == " " || $0 == "\n" }.map(String.init))
  }

  private static let titles = set(
    """
    dr prof mr mrs ms miss sir madam herr frau fr hr mme mlle m sr sra srta dott sig don dona dipl ing coach captain uncle aunt auntie onkel tante
    tante oncle tia tio zia zio opa oma the der die das le la el il o a les los las team
    """)

  private static let words = set(
    """
    mark may will april june august hope faith grace joy rose lily daisy violet ivy bill pat sue rob rich frank dean drew chase grant
    guy art gene jade amber ruby pearl dawn eve gay don chip buck chuck skip rusty sandy sunny penny wade miles reed rock stone cash
    christian colt dick earnest herb iris jasmine heather hazel holly ginger olive basil rosemary melody harmony carol crystal destiny
    charity patience honor mercy summer autumn winter angel king prince duke earl baron judge major page piper
    archer baker cook smith fisher walker turner dale glen cliff forest brook brooks river lake sky star storm rain sun moon bee
    robin jay wren dove wolf bear fox lance pierce peg van tab wall case mat sage dusty happy lucky bud
    buddy ace blue red gray grey brown young long short little sonny candy cherry clay flint gale gail gay hale jean
    kit lee mac marina merry mo pan pip rod rusty sax scout sterling tempest trinity true wally woody
    hero royal justice reason song story phoenix dakota denver paris chad kenya india china asia america
    brooklyn savannah cheyenne support marketing sales admin office info service help desk bot
    news team boss mom mum dad mama papa grandma grandpa kind test group everyone family home work friend friends staff
    rose pierre marine blanche aime fleur ange noel pascal prune clementine cerise constant parfait olive violette avril mai jan lou
    luce jean juste modeste aurore aube desire france
    ernst wolf stern engel rosa linde blume sonne hell lieb till falk frank mai mark heide sunna wonne lenz
    luz sol mar cielo paz flor dulce consuelo dolores soledad esperanza mercedes pilar concepcion blanca angel jesus leon domingo
    salvador justo severo amado nieves reyes rocio estrella margarita paloma perla gloria caridad piedad cruz socorro
    luce sole stella felice angelo serena gioia mia vera fiore salvatore libero aurora alba grazia letizia donato benedetto
    celeste primo vita speranza allegra ambra santo noi per dan
    vitoria graca ceu lua domingos esperanca sol bas roos beer vos mees merel madelief sterre fleur door wil
    deniz baris gunes yagmur cicek gul ay can umut sevgi ozgur savas toprak ozan ates bulut duygu nur su isik yildiz melek bahar yaz kaya demir
    celik polat aslan kartal dogan sahin tuna onur bilge inci mercan pinar irmak zafer sevinc nese mert cesur yaman yigit guven devrim evrim ulku
    dilek arzu hayat derin fidan papatya lale menekse yasemin nergis sen umit sevda hasret gizem ceren yasar
    вера надежда любовь роза лилия лев слава мир света рада злата майя мила весна
    하나 나라 우리 이슬 보라 슬기 가을 하늘 바다 사랑 소리 다운 미나 아름 은혜 지혜 진리 大家 先生 小心 明白 文化 天天 高兴 方便
    """)

  static let months = set(
    "may april june august mai avril janvier juin aout abril mayo maio junio junho agosto julia januar jan aprile maggio jun aug apr juni mei"
  )

  static let beforeMonths = set(
    "in on of since until till by from to next last this early mid late and im ab bis seit ende anfang en de em di du desde hasta fin debut a"
  )

  static let greetings = set(
    """
    hi hey hello hallo hola ciao salut bonjour bonsoir oi ola merhaba selam privet привет здравствуй thanks thx danke merci gracias grazie obrigado
    obrigada bedankt спасибо dear liebe lieber cher chere cara caro querido querida beste sevgili дорогой дорогая morning evening night sorry bye
    yo hiya servus moin hoi dag guten coucou buongiorno buenas bom boa ask tell frag frage sag pregunta chiedi demande congrats happy
    """)

  /// Words that are usually verbs; the following word decides.
  static let auxiliaries = set("will may can")
  static let behindAuxiliary = set(
    "can could would should please pls where when what how why is has was said did does are u r and")

  /// Words that follow the name of somebody who is addressed without a comma.
  static let behindCalled = set(
    """
    can could would should will do does did is are was were has have had please pls plz where when what who how why which u r ur you your said says
    wants needs knows thinks and or just its it's i i'm im let let's lets any call come look check
    kannst konntest wo wann was wie warum wer hast bist weißt weisst ist hat bitte und komm schau ruf du
    peux pourrais tu ou quand quoi comment pourquoi as es est a et viens regarde appelle
    puedes podrias donde cuando que como por tienes eres esta es y ven mira llama tu
    puoi potresti dove quando cosa come perche hai sei e vieni guarda chiama pode voce onde quando tem esta kun wil heb ben waar wat
    """)

  /// Next to these a word is not a name: the mark, mark the date.
  static let determiners = set(
    """
    the a an this that these those my your his her its our their no some any every each it them him us all
    der die das den dem des ein eine einen einem einer eines kein keine mein meine dein deine im am zum zur vom beim ins ans
    le la les l un une des du au aux ce cet cette mon ma mes ton ta tes son sa ses
    el los las lo una unos unas del al mi tu su este esta il i gli uno dei della nel nella sul o os as um uma do da dos das no na de het een
    bir bu o şu
    """)

  /// Short for `will`, `would`, `is` after a word. Only that of `is` can also be a genitive, which names have.
  static let contractions = set("ll d ve re")

  static let honorifics = ["さん", "くん", "君", "ちゃん", "様", "さま", "先生", "先輩", "씨", "님", "야", "아"]
}
