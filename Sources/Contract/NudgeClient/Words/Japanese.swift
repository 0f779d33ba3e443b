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
