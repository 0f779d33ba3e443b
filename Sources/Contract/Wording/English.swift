extension Wording {
  public static let english = Wording(
    language: "en",
    image: "📷 Image",
    video: "🎥 Video",
    audio: "🎤 Audio",
    file: "📎 File",
    location: "📍 Location",
    newMessage: "New message from {sender}",
    groupTitle: "{sender} in {group}",
    unnamedGroupTitle: "{sender} with {others}",
    limitReached: "⚠️ Smart notification limit reached ({limit}/hour).",
    usingSimpleRules: "Using simple rules.",
    notifyingAll: "You are notified of every message until the hour is over.",
    suppressingAll: "Notifications are paused until the hour is over.",
    oneMessage: "1 message",
    messages: "{count} messages",
    inOneConversation: "in 1 conversation",
    inConversations: "in {count} conversations",
    catchUp: "{messages} {conversations}",
    reasons: .english)
}

extension Reasons {
  static let english = Reasons(separator: ", ", lastSeparator: " and ") { code in
    switch code {
    case .highPriority: "high priority: {reasons}"
    case .mediumPriority: "medium priority: {reasons}"
    case .lowPriority: "low priority: {reasons}"
    case .nothingForYou: "nothing says that it is for you"
    case .allInAll: "all in all"
    case .direct: "it is a direct message"
    case .mentioned: "{sender} mentions you"
    case .answered: "it answers your message"
    case .named: "it is addressed to you"
    case .notNamed: "it does not name you"
    case .namedNewcomer: "it names you"
    case .wroteLately: "you wrote here lately"
    case .notWroteLately: "you have not written here lately"
    case .askedSomething: "you had asked something"
    case .askedNothing: "you had asked nothing"
    case .senderWritesToYou: "{sender} has been writing to you"
    case .senderWritesToOthers: "{sender} has not been writing to you"
    case .talking: "you and {sender} are talking"
    case .notTalking: "you and {sender} are not talking"
    case .noOtherAnswered: "nobody else has answered you"
    case .talkingWithOthers: "you are talking with others"
    case .yourTopic: "it is about what you wrote"
    case .notYourTopic: "it is not about what you wrote"
    case .readsLikeAnswer: "it reads like an answer"
    case .notLikeAnswer: "it does not read like an answer"
    case .senderInTalk: "{sender} is in a conversation"
    case .senderNotInTalk: "{sender} seems to write to others"
    case .starredSender: "you starred {sender}"
    case .keyword: "it has one of your keywords"
    case .urgentWords: "it says that it is urgent"
    case .question: "it asks something"
    case .senderMatters: "messages of {sender} matter to you"
    case .senderRarelyMatters: "messages of {sender} rarely matter to you"
    case .conversationMatters: "this conversation matters to you"
    case .conversationRarelyMatters: "this conversation rarely matters to you"
    case .likesToBeTold: "you like to be told"
    case .likesQuiet: "you like to be told little"
    case .duplicate: "the message was decided for you before"
    case .notifiedBefore: "you were notified of the message before"
    case .notifiedUnknown: "it is no longer known whether you were notified of the message before"
    case .withdrawn: "the message was taken back, or you left the conversation"
    case .disabled: "you turned notifications off"
    case .muted: "you muted the conversation"
    case .mutedUntil: "you muted the conversation until {time}"
    case .alreadyRead: "you have read the message already"
    case .expired: "the message is too old: its freshness ended at {time}"
    case .possibleRepeat: "the message comes so late that it may be a repeat"
    case .activeConversation: "you have the conversation open"
    case .activeElsewhere: "you are active on another device: you are alerted only if you do not read it there"
    case .quietHours: "quiet hours from {start} to {end} ({zone}), where it was {time}"
    case .noDevice: "you have no registered device"
    case .limitReached:
      "the limit of {limit|smart analysis|smart analyses} an hour is reached, simple rules apply: {reasons}"
    case .limitNotifiesAll:
      "the limit of {limit|smart analysis|smart analyses} an hour is reached: you are notified of everything"
    case .limitSuppressesAll:
      "the limit of {limit|smart analysis|smart analyses} an hour is reached: you are notified of nothing"
    case .heldBack:
      "{reasons}, shown without an alert because this conversation alerted you shortly before"
    case .overBudget:
      "{reasons}, shown without a sound because of your limit of {budget|alert|alerts} a day"
    case .allDirect: "you get all messages of direct chats"
    case .allInGroups: "you get all messages of groups"
    case .allHere: "you get all messages of this conversation"
    case .mentionsDirect: "of direct chats you get only mentions, replies to you and your keywords"
    case .mentionsInGroups: "of groups you get only mentions, replies to you and your keywords"
    case .mentionsHere: "of this conversation you get only mentions, replies to you and your keywords"
    case .noneDirect: "you get no messages of direct chats"
    case .noneInGroups: "you get no messages of groups"
    case .noneHere: "you get no messages of this conversation"
    case .mutedSender: "you muted {sender}"
    case .history: "it was written at {time}, long before it arrived"
    case .alertOfStarred: "{reasons}, with a sound because you starred {sender}"
    case .shownInSmallGroup: "{reasons}, shown without a sound because the group is small"
    case .replayStopped: "a replay asked for it, and was stopped"
    case .replayLimit: "a replay asked for it, which has notified you as often as one may"
    case .replayForcedLimit: "a replay asked for it by force, which has done so as often as one may"
    }
  }
}
