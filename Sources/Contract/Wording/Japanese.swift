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
    limitReached: "⚠️ スマート通知の上限に達しました（{limit}件/時）。",
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

extension Reasons {
  static let japanese = Reasons(separator: "、", lastSeparator: "、") { code in
    switch code {
    case .highPriority: "優先度は高：{reasons}"
    case .mediumPriority: "優先度は中：{reasons}"
    case .lowPriority: "優先度は低：{reasons}"
    case .nothingForYou: "あなた宛てと言える手がかりがありません"
    case .allInAll: "全体としての判断です"
    case .direct: "ダイレクトメッセージです"
    case .mentioned: "{sender}さんがあなたをメンションしています"
    case .answered: "あなたのメッセージへの返信です"
    case .named: "あなたに宛てたものです"
    case .notNamed: "あなたの名前がありません"
    case .namedNewcomer: "あなたの名前があります"
    case .wroteLately: "あなたは最近ここに書き込みました"
    case .notWroteLately: "あなたはしばらくここに書き込んでいません"
    case .askedSomething: "あなたは質問をしていました"
    case .askedNothing: "あなたは質問をしていませんでした"
    case .senderWritesToYou: "{sender}さんはあなたに書いていました"
    case .senderWritesToOthers: "{sender}さんはあなたに書いていませんでした"
    case .talking: "あなたと{sender}さんは会話中です"
    case .notTalking: "あなたと{sender}さんは会話していません"
    case .noOtherAnswered: "ほかに誰もあなたに返事をしていません"
    case .talkingWithOthers: "あなたはほかの人と会話しています"
    case .yourTopic: "あなたが書いたことについての話です"
    case .notYourTopic: "あなたが書いたこととは別の話です"
    case .readsLikeAnswer: "返事のように読めます"
    case .notLikeAnswer: "返事のようには読めません"
    case .senderInTalk: "{sender}さんは会話の途中です"
    case .senderNotInTalk: "{sender}さんはほかの人に書いているようです"
    case .starredSender: "{sender}さんをお気に入りに登録しています"
    case .keyword: "あなたのキーワードが含まれています"
    case .urgentWords: "急ぎだと書かれています"
    case .question: "質問が書かれています"
    case .senderMatters: "{sender}さんのメッセージはあなたにとって重要です"
    case .senderRarelyMatters: "{sender}さんのメッセージはあなたにとってあまり重要ではありません"
    case .conversationMatters: "この会話はあなたにとって重要です"
    case .conversationRarelyMatters: "この会話はあなたにとってあまり重要ではありません"
    case .likesToBeTold: "あなたは通知を好みます"
    case .likesQuiet: "あなたは少ない通知を好みます"
    case .duplicate: "このメッセージは以前に判断済みです"
    case .notifiedBefore: "このメッセージは以前に通知済みです"
    case .notifiedUnknown: "このメッセージを以前に通知したかどうかは、もう分かりません"
    case .withdrawn: "メッセージが取り消されたか、あなたが会話を退出しました"
    case .disabled: "通知がオフになっています"
    case .muted: "会話がミュートされています"
    case .mutedUntil: "会話は{time}までミュートされています"
    case .alreadyRead: "メッセージはすでに既読です"
    case .expired: "メッセージが古すぎます（有効期限：{time}）"
    case .possibleRepeat: "メッセージの到着が遅く、重複の可能性があります"
    case .activeConversation: "会話を開いています"
    case .activeElsewhere: "ほかの端末を使用中です。そこで読まれない場合にだけ通知します"
    case .quietHours: "{zone}の{time}は、{start}から{end}までの通知オフ時間帯です"
    case .noDevice: "登録された端末がありません"
    case .limitReached: "スマート分析の上限（1時間{limit}件）に達したため、簡易ルールを使います。{reasons}"
    case .limitNotifiesAll: "スマート分析の上限（1時間{limit}件）に達したため、すべて通知します"
    case .limitSuppressesAll: "スマート分析の上限（1時間{limit}件）に達したため、通知を休止します"
    case .heldBack:
      "{reasons}（この会話から直前に通知したため、音は鳴らしません）"
    case .overBudget:
      "{reasons}（通知音は1日{budget}回までの設定のため、音は鳴らしません）"
    case .allDirect: "ダイレクトチャットのメッセージをすべて受け取る設定です"
    case .allInGroups: "グループのメッセージをすべて受け取る設定です"
    case .allHere: "この会話のメッセージをすべて受け取る設定です"
    case .mentionsDirect: "ダイレクトチャットではメンション、返信、キーワードだけを受け取る設定です"
    case .mentionsInGroups: "グループではメンション、返信、キーワードだけを受け取る設定です"
    case .mentionsHere: "この会話ではメンション、返信、キーワードだけを受け取る設定です"
    case .noneDirect: "ダイレクトチャットのメッセージを受け取らない設定です"
    case .noneInGroups: "グループのメッセージを受け取らない設定です"
    case .noneHere: "この会話のメッセージを受け取らない設定です"
    case .mutedSender: "{sender}さんをミュートしています"
    case .history: "届くよりずっと前（{time}）に書かれたメッセージです"
    case .alertOfStarred: "{reasons}（{sender}さんはお気に入りなので音が鳴ります）"
    case .shownInSmallGroup: "{reasons}（小さなグループなので音なしで表示されます）"
    case .replayStopped: "再送の処理が停止されました"
    case .replayLimit: "再送の処理による通知が、一人あたりの上限に達しました"
    case .replayForcedLimit: "再送の処理による強制通知が上限に達しました"
    }
  }
}
