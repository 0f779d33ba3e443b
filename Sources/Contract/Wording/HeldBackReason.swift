/// Why a message did not alert, for a later list of held-back messages. Only a case is stored for each message, without
/// further values. The raw values are codes on the wire. Rows of state store a reason as its index, so add new cases at
/// the end.
public enum HeldBackReason: String, Sendable, CaseIterable {
  /// The person turned notifications off.
  case disabled = "notifications_disabled"
  /// The person muted the conversation.
  case muted = "conversation_muted"
  /// The person muted the sender.
  case mutedSender = "muted_sender"
  /// The person's level for the conversation does not show such a message.
  case level
  /// It arrived in quiet hours.
  case quietHours = "quiet_hours"
  /// The hourly smart analyses were used up, and the person's fallback suppresses every message.
  case analysisLimit = "analysis_limit"
  /// It arrived too late.
  case expired
  /// It was written long before it arrived.
  case history
  /// There was no device to send to.
  case noDevice = "no_device"
  /// It only changed the badge, because it seemed unimportant.
  case lowPriority = "low_priority"
  /// It was shown without a sound, because it did not seem urgent.
  case mediumPriority = "medium_priority"
  /// It was shown without a sound, because its conversation had alerted shortly before.
  case burst
  /// It was shown without a sound, because the alerts of the day were used up.
  case budget
}

extension Wording {
  /// The sentence for a reason in this language.
  public func text(_ reason: HeldBackReason) -> String {
    switch language {
    case "de": reason.german
    case "es": reason.spanish
    case "fr": reason.french
    case "ja": reason.japanese
    default: reason.english
    }
  }
}

extension HeldBackReason {
  fileprivate var english: String {
    switch self {
    case .disabled: "you had turned notifications off"
    case .muted: "you had muted the conversation"
    case .mutedSender: "you had muted who wrote it"
    case .level: "your level for the conversation shows no such message"
    case .quietHours: "it came in your quiet hours"
    case .analysisLimit: "the smart analyses of that hour were used up"
    case .expired: "it came too late"
    case .history: "it was written long before it arrived"
    case .noDevice: "you had no registered device"
    case .lowPriority: "it did not seem important to you"
    case .mediumPriority: "shown without a sound: it did not seem urgent"
    case .burst: "shown without a sound: the conversation had alerted you shortly before"
    case .budget: "shown without a sound: your alerts of that day were used up"
    }
  }

  fileprivate var german: String {
    switch self {
    case .disabled: "du hattest Mitteilungen ausgeschaltet"
    case .muted: "du hattest die Unterhaltung stummgeschaltet"
    case .mutedSender: "du hattest den Absender stummgeschaltet"
    case .level: "deine Stufe für die Unterhaltung zeigt solche Nachrichten nicht"
    case .quietHours: "sie kam in deiner Ruhezeit"
    case .analysisLimit: "die smarten Analysen der Stunde waren aufgebraucht"
    case .expired: "sie kam zu spät"
    case .history: "sie wurde lange vor ihrer Ankunft geschrieben"
    case .noDevice: "du hattest kein angemeldetes Gerät"
    case .lowPriority: "sie schien nicht wichtig für dich"
    case .mediumPriority: "ohne Ton gezeigt: sie schien nicht eilig"
    case .burst: "ohne Ton gezeigt: die Unterhaltung hatte sich kurz zuvor gemeldet"
    case .budget: "ohne Ton gezeigt: deine Töne des Tages waren aufgebraucht"
    }
  }

  fileprivate var spanish: String {
    switch self {
    case .disabled: "habías desactivado las notificaciones"
    case .muted: "habías silenciado la conversación"
    case .mutedSender: "habías silenciado a quien lo escribió"
    case .level: "tu nivel para la conversación no muestra estos mensajes"
    case .quietHours: "llegó en tus horas de silencio"
    case .analysisLimit: "los análisis inteligentes de esa hora se habían agotado"
    case .expired: "llegó demasiado tarde"
    case .history: "se escribió mucho antes de llegar"
    case .noDevice: "no tenías ningún dispositivo registrado"
    case .lowPriority: "no parecía importante para ti"
    case .mediumPriority: "mostrado sin sonido: no parecía urgente"
    case .burst: "mostrado sin sonido: la conversación te había avisado poco antes"
    case .budget: "mostrado sin sonido: tus avisos de ese día se habían agotado"
    }
  }

  fileprivate var french: String {
    switch self {
    case .disabled: "vous aviez désactivé les notifications"
    case .muted: "vous aviez mis la conversation en sourdine"
    case .mutedSender: "vous aviez mis son auteur en sourdine"
    case .level: "votre niveau pour la conversation ne montre pas ces messages"
    case .quietHours: "il est arrivé pendant vos heures calmes"
    case .analysisLimit: "les analyses intelligentes de cette heure étaient épuisées"
    case .expired: "il est arrivé trop tard"
    case .history: "il a été écrit bien avant son arrivée"
    case .noDevice: "vous n’aviez aucun appareil enregistré"
    case .lowPriority: "il ne semblait pas important pour vous"
    case .mediumPriority: "montré sans son : il ne semblait pas urgent"
    case .burst: "montré sans son : la conversation vous avait alerté peu avant"
    case .budget: "montré sans son : vos alertes de ce jour étaient épuisées"
    }
  }

  fileprivate var japanese: String {
    switch self {
    case .disabled: "通知がオフでした"
    case .muted: "会話がミュートされていました"
    case .mutedSender: "送信者がミュートされていました"
    case .level: "この会話のレベルでは表示されません"
    case .quietHours: "おやすみ時間に届きました"
    case .analysisLimit: "その時間のスマート分析を使い切っていました"
    case .expired: "届くのが遅すぎました"
    case .history: "届くよりずっと前に書かれたものでした"
    case .noDevice: "登録された端末がありませんでした"
    case .lowPriority: "あなたにとって重要ではないと判断されました"
    case .mediumPriority: "急ぎではないと判断され、音なしで表示されました"
    case .burst: "直前に同じ会話の通知があったため、音なしで表示されました"
    case .budget: "その日の通知回数を使い切ったため、音なしで表示されました"
    }
  }
}
