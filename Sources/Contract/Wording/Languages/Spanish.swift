extension Wording {
  public static let spanish = Wording(
    language: "es",
    image: "📷 Imagen",
    video: "🎥 Vídeo",
    audio: "🎤 Audio",
    file: "📎 Archivo",
    location: "📍 Ubicación",
    newMessage: "Nuevo mensaje de {sender}",
    groupTitle: "{sender} en {group}",
    unnamedGroupTitle: "{sender} con {others}",
    limitReached: "⚠️ Límite de notificaciones inteligentes alcanzado ({limit}/hora).",
    usingSimpleRules: "Se usan reglas sencillas.",
    notifyingAll: "Se te notificará cada mensaje hasta que termine la hora.",
    suppressingAll: "Las notificaciones quedan en pausa hasta que termine la hora.",
    oneMessage: "1 mensaje",
    messages: "{count} mensajes",
    inOneConversation: "en 1 conversación",
    inConversations: "en {count} conversaciones",
    catchUp: "{messages} {conversations}",
    reasons: .spanish)
}
