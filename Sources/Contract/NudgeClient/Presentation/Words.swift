import Foundation

/// The fixed words that the app shows, in one language. Each language is a file in this folder and an entry in `all`.
///
/// `Schemas/app/words.json` has the same words for apps in other languages.
///
/// ```swift
/// let words = Words(locale: "de-CH")
/// words.reply  // "Antworten"
/// ```
public struct Words: Sendable, Equatable, Codable {
  /// The language, as the first part of a BCP 47 tag: `de`.
  public let language: String

  // MARK: Buttons of a notification

  /// The button that opens the text field.
  public let reply: String
  /// The button that sends a reply.
  public let send: String
  /// The placeholder in the empty text field.
  public let replyPlaceholder: String
  /// The button that marks a conversation as read.
  public let markRead: String
  /// The button for a helpful notification.
  public let helpful: String
  /// The button for a notification that was not helpful.
  public let notHelpful: String

  // MARK: Results

  /// A reply was sent.
  public let messageSent: String
  /// A reply could not be sent.
  public let messageNotSent: String
  /// A conversation could not be marked as read.
  public let notMarkedRead: String
  /// Feedback could not be sent.
  public let feedbackNotSent: String
  /// Nobody is signed in.
  public let signInFirst: String
  /// The notification is for another account.
  public let otherAccount: String
  /// The reply is empty.
  public let emptyReply: String

  // MARK: Permission

  /// The banner that leads a user without notifications to the settings.
  public let enableNotifications: String
  /// The button of that banner.
  public let openSettings: String
  /// The name of Android's channel `messages`.
  public let messagesChannel: String
  /// The name of Android's channel `messages_silent`.
  public let silentMessagesChannel: String

  // MARK: Conversations

  /// The conversation is gone.
  public let conversationGone: String
  /// The conversation was not loaded in time.
  public let conversationNotLoaded: String
  /// The message was not loaded in time.
  public let messageNotLoaded: String
  /// The user's name for themselves in their own notifications.
  public let you: String
  /// The group under a sender's name; `{group}` is its name.
  let inGroup: String
  /// How many more messages a catch-up has than lines; `{count}` is the number.
  let more: String

  /// All languages. English is used for any other language.
  public static let all: [Words] = [.english, .german, .spanish, .french, .japanese]

  /// The words in the language of the device.
  public static var device: Words { Words(locale: Locale.preferredLanguages.first) }

  /// The group under a sender's name: "in Team".
  public func inGroup(named name: String) -> String { filled(inGroup, "{group}", name) }

  /// How many more messages a catch-up has than lines: "and 3 more".
  public func more(count: Int) -> String { filled(more, "{count}", String(count)) }

  private func filled(_ text: String, _ place: String, _ value: String) -> String {
    guard let range = text.range(of: place) else { return text }
    return text.replacingCharacters(in: range, with: value)
  }
}

// Beside the structure, so that it keeps the initializer of all its words.
extension Words {
  /// The words for a locale such as `de-CH` or `pt_BR`, by its language; English if the language has no words.
  public init(locale: String?) {
    let language = locale?.split { $0 == "-" || $0 == "_" }.first?.lowercased()
    self = Self.all.first { $0.language == language } ?? .english
  }
}

extension Words {
  /// English.
  public static let english = Words(
    language: "en",
    reply: "Reply",
    send: "Send",
    replyPlaceholder: "Type a message…",
    markRead: "Mark Read",
    helpful: "👍 Helpful",
    notHelpful: "👎 Not Helpful",
    messageSent: "Message sent",
    messageNotSent: "Message could not be sent",
    notMarkedRead: "Could not be marked as read",
    feedbackNotSent: "Feedback could not be sent",
    signInFirst: "Sign in to answer",
    otherAccount: "This was for another account",
    emptyReply: "There is nothing to send",
    enableNotifications: "Enable notifications in Settings to stay updated",
    openSettings: "Open Settings",
    messagesChannel: "Messages",
    silentMessagesChannel: "Silent messages",
    conversationGone: "This conversation is no longer available",
    conversationNotLoaded: "This conversation could not be loaded",
    messageNotLoaded: "This message could not be loaded",
    you: "You",
    inGroup: "in {group}",
    more: "and {count} more")
}

extension Words {
  /// French.
  public static let french = Words(
    language: "fr",
    reply: "Répondre",
    send: "Envoyer",
    replyPlaceholder: "Écrire un message…",
    markRead: "Marquer comme lu",
    helpful: "👍 Utile",
    notHelpful: "👎 Pas utile",
    messageSent: "Message envoyé",
    messageNotSent: "Le message n’a pas pu être envoyé",
    notMarkedRead: "Impossible de marquer comme lu",
    feedbackNotSent: "L’avis n’a pas pu être envoyé",
    signInFirst: "Connectez-vous pour répondre",
    otherAccount: "C’était pour un autre compte",
    emptyReply: "Il n’y a rien à envoyer",
    enableNotifications: "Activez les notifications dans Réglages pour rester informé",
    openSettings: "Ouvrir Réglages",
    messagesChannel: "Messages",
    silentMessagesChannel: "Messages silencieux",
    conversationGone: "Cette conversation n’est plus disponible",
    conversationNotLoaded: "Cette conversation n’a pas pu être chargée",
    messageNotLoaded: "Ce message n’a pas pu être chargé",
    you: "Vous",
    inGroup: "dans {group}",
    more: "et {count} de plus")
}

extension Words {
  /// German.
  public static let german = Words(
    language: "de",
    reply: "Antworten",
    send: "Senden",
    replyPlaceholder: "Nachricht schreiben …",
    markRead: "Als gelesen markieren",
    helpful: "👍 Hilfreich",
    notHelpful: "👎 Nicht hilfreich",
    messageSent: "Nachricht gesendet",
    messageNotSent: "Nachricht konnte nicht gesendet werden",
    notMarkedRead: "Konnte nicht als gelesen markiert werden",
    feedbackNotSent: "Rückmeldung konnte nicht gesendet werden",
    signInFirst: "Melde dich an, um zu antworten",
    otherAccount: "Das war für ein anderes Konto",
    emptyReply: "Es gibt nichts zu senden",
    enableNotifications: "Aktiviere Mitteilungen in den Einstellungen, um auf dem Laufenden zu bleiben",
    openSettings: "Einstellungen öffnen",
    messagesChannel: "Nachrichten",
    silentMessagesChannel: "Stumme Nachrichten",
    conversationGone: "Diese Unterhaltung ist nicht mehr verfügbar",
    conversationNotLoaded: "Diese Unterhaltung konnte nicht geladen werden",
    messageNotLoaded: "Diese Nachricht konnte nicht geladen werden",
    you: "Du",
    inGroup: "in {group}",
    more: "und {count} weitere")
}

extension Words {
  /// Japanese.
  public static let japanese = Words(
    language: "ja",
    reply: "返信",
    send: "送信",
    replyPlaceholder: "メッセージを入力…",
    markRead: "既読にする",
    helpful: "👍 役に立った",
    notHelpful: "👎 役に立たない",
    messageSent: "メッセージを送信しました",
    messageNotSent: "メッセージを送信できませんでした",
    notMarkedRead: "既読にできませんでした",
    feedbackNotSent: "フィードバックを送信できませんでした",
    signInFirst: "返信するにはサインインしてください",
    otherAccount: "別のアカウント宛てでした",
    emptyReply: "送信する内容がありません",
    enableNotifications: "最新情報を受け取るには設定で通知を有効にしてください",
    openSettings: "設定を開く",
    messagesChannel: "メッセージ",
    silentMessagesChannel: "サイレントメッセージ",
    conversationGone: "この会話は利用できなくなりました",
    conversationNotLoaded: "この会話を読み込めませんでした",
    messageNotLoaded: "このメッセージを読み込めませんでした",
    you: "あなた",
    inGroup: "（{group}）",
    more: "他 {count} 件")
}

extension Words {
  /// Spanish.
  public static let spanish = Words(
    language: "es",
    reply: "Responder",
    send: "Enviar",
    replyPlaceholder: "Escribe un mensaje…",
    markRead: "Marcar como leído",
    helpful: "👍 Útil",
    notHelpful: "👎 No es útil",
    messageSent: "Mensaje enviado",
    messageNotSent: "No se pudo enviar el mensaje",
    notMarkedRead: "No se pudo marcar como leído",
    feedbackNotSent: "No se pudo enviar la opinión",
    signInFirst: "Inicia sesión para responder",
    otherAccount: "Esto era para otra cuenta",
    emptyReply: "No hay nada que enviar",
    enableNotifications: "Activa las notificaciones en Ajustes para estar al día",
    openSettings: "Abrir Ajustes",
    messagesChannel: "Mensajes",
    silentMessagesChannel: "Mensajes silenciosos",
    conversationGone: "Esta conversación ya no está disponible",
    conversationNotLoaded: "No se pudo cargar esta conversación",
    messageNotLoaded: "No se pudo cargar este mensaje",
    you: "Tú",
    inGroup: "en {group}",
    more: "y {count} más")
}
