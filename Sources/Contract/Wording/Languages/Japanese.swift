extension Wording {
  public static let japanese = Wording(
    language: "ja",
    image: "📷 画像",
    video: "🎥 動画",
    audio: "🎤 音声",
    file: "📎 ファイル",
    location: "📍 位置情報",
    newMessage: "{sender}さんからの新しいメッセージ",
    groupTitle: "{sender}（{group}）",
    unnamedGroupTitle: "{sender}（{others}）",
    limitReached: "⚠️ スマート通知の上限に達しました({limit}件/時)。",
    usingSimpleRules: "簡易ルールで通知します。",
    notifyingAll: "この1時間が終わるまで、すべてのメッセージを通知します。",
    suppressingAll: "この1時間が終わるまで、通知を一時停止します。",
    oneMessage: "1件のメッセージ",
    messages: "{count}件のメッセージ",
    inOneConversation: "1件の会話に",
    inConversations: "{count}件の会話に",
    catchUp: "{conversations}{messages}",
    reasons: .japanese)
}
