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
