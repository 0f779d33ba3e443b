extension Wording {
  public static let german = Wording(
    language: "de",
    image: "📷 Bild",
    video: "🎥 Video",
    audio: "🎤 Sprachnachricht",
    file: "📎 Datei",
    location: "📍 Standort",
    newMessage: "Neue Nachricht von {sender}",
    groupTitle: "{sender} in {group}",
    unnamedGroupTitle: "{sender} mit {others}",
    limitReached: "⚠️ Limit für smarte Mitteilungen erreicht ({limit}/Stunde).",
    usingSimpleRules: "Es gelten einfache Regeln.",
    notifyingAll: "Bis zum Ende der Stunde erhältst du jede Nachricht.",
    suppressingAll: "Mitteilungen pausieren bis zum Ende der Stunde.",
    oneMessage: "1 Nachricht",
    messages: "{count} Nachrichten",
    inOneConversation: "in 1 Unterhaltung",
    inConversations: "in {count} Unterhaltungen",
    catchUp: "{messages} {conversations}",
    reasons: .german)
}

extension Reasons {
  static let german = Reasons(separator: ", ", lastSeparator: " und ") { code in
    switch code {
    case .highPriority: "hohe Priorität: {reasons}"
    case .mediumPriority: "mittlere Priorität: {reasons}"
    case .lowPriority: "niedrige Priorität: {reasons}"
    case .nothingForYou: "nichts spricht dafür, dass sie für dich ist"
    case .allInAll: "alles in allem"
    case .direct: "es ist eine Direktnachricht"
    case .mentioned: "{sender} erwähnt dich"
    case .answered: "sie antwortet auf deine Nachricht"
    case .named: "sie richtet sich an dich"
    case .notNamed: "sie nennt dich nicht"
    case .namedNewcomer: "sie nennt deinen Namen"
    case .wroteLately: "du hast hier vor Kurzem geschrieben"
    case .notWroteLately: "du hast hier länger nicht geschrieben"
    case .askedSomething: "du hattest etwas gefragt"
    case .askedNothing: "du hattest nichts gefragt"
    case .senderWritesToYou: "{sender} hat zuletzt dir geschrieben"
    case .senderWritesToOthers: "{sender} hat zuletzt nicht dir geschrieben"
    case .talking: "du und {sender} unterhaltet euch"
    case .notTalking: "du und {sender} unterhaltet euch gerade nicht"
    case .noOtherAnswered: "dir hat sonst niemand geantwortet"
    case .talkingWithOthers: "du unterhältst dich mit anderen"
    case .yourTopic: "es geht um das, was du geschrieben hast"
    case .notYourTopic: "es geht nicht um das, was du geschrieben hast"
    case .readsLikeAnswer: "sie liest sich wie eine Antwort"
    case .notLikeAnswer: "sie liest sich nicht wie eine Antwort"
    case .senderInTalk: "{sender} ist im Gespräch"
    case .senderNotInTalk: "{sender} schreibt wohl an andere"
    case .starredSender: "{sender} ist bei dir mit Stern markiert"
    case .keyword: "sie enthält eines deiner Stichwörter"
    case .urgentWords: "sie gibt sich als dringend aus"
    case .question: "sie fragt etwas"
    case .senderMatters: "Nachrichten von {sender} sind dir wichtig"
    case .senderRarelyMatters: "Nachrichten von {sender} sind dir selten wichtig"
    case .conversationMatters: "diese Unterhaltung ist dir wichtig"
    case .conversationRarelyMatters: "diese Unterhaltung ist dir selten wichtig"
    case .likesToBeTold: "du möchtest gern Bescheid wissen"
    case .likesQuiet: "du möchtest wenig gestört werden"
    case .duplicate: "über die Nachricht wurde für dich schon entschieden"
    case .notifiedBefore: "du hast für die Nachricht schon eine Mitteilung erhalten"
    case .notifiedUnknown: "ob du für die Nachricht schon eine Mitteilung erhalten hast, ist nicht mehr bekannt"
    case .withdrawn: "die Nachricht wurde zurückgenommen, oder du hast die Unterhaltung verlassen"
    case .disabled: "du hast Mitteilungen ausgeschaltet"
    case .muted: "du hast die Unterhaltung stummgeschaltet"
    case .mutedUntil: "du hast die Unterhaltung bis {time} stummgeschaltet"
    case .alreadyRead: "du hast die Nachricht schon gelesen"
    case .expired: "die Nachricht ist zu alt: aktuell war sie bis {time}"
    case .possibleRepeat: "die Nachricht kommt so spät, dass sie eine Wiederholung sein kann"
    case .activeConversation: "du hast die Unterhaltung gerade offen"
    case .activeElsewhere:
      "du bist gerade auf einem anderen Gerät aktiv: alarmiert wirst du nur, wenn du sie dort nicht liest"
    case .quietHours: "Ruhezeit von {start} bis {end} ({zone}), dort war es {time}"
    case .noDevice: "du hast kein angemeldetes Gerät"
    case .limitReached:
      "das Limit von {limit|smarten Analyse|smarten Analysen} pro Stunde ist erreicht, es gelten einfache Regeln: {reasons}"
    case .limitNotifiesAll:
      "das Limit von {limit|smarten Analyse|smarten Analysen} pro Stunde ist erreicht: du erhältst jede Nachricht"
    case .limitSuppressesAll:
      "das Limit von {limit|smarten Analyse|smarten Analysen} pro Stunde ist erreicht: Mitteilungen pausieren"
    case .heldBack:
      "{reasons}, ohne Signal, weil diese Unterhaltung dich kurz zuvor schon alarmiert hat"
    case .overBudget:
      "{reasons}, ohne Ton, weil du höchstens {budget|Signal|Signale} am Tag möchtest"
    case .allDirect: "du erhältst alle Nachrichten aus Direktchats"
    case .allInGroups: "du erhältst alle Nachrichten aus Gruppen"
    case .allHere: "du erhältst alle Nachrichten dieser Unterhaltung"
    case .mentionsDirect: "aus Direktchats erhältst du nur Erwähnungen, Antworten an dich und deine Stichwörter"
    case .mentionsInGroups: "aus Gruppen erhältst du nur Erwähnungen, Antworten an dich und deine Stichwörter"
    case .mentionsHere: "aus dieser Unterhaltung erhältst du nur Erwähnungen, Antworten an dich und deine Stichwörter"
    case .noneDirect: "du erhältst keine Nachrichten aus Direktchats"
    case .noneInGroups: "du erhältst keine Nachrichten aus Gruppen"
    case .noneHere: "du erhältst keine Nachrichten dieser Unterhaltung"
    case .mutedSender: "du hast {sender} stummgeschaltet"
    case .history: "sie wurde {time} geschrieben, lange bevor sie ankam"
    case .alertOfStarred: "{reasons}, mit Ton, weil {sender} zu deinen Favoriten gehört"
    case .shownInSmallGroup: "{reasons}, ohne Ton angezeigt, weil die Gruppe klein ist"
    case .replayStopped: "eine Wiederholung hat danach gefragt und wurde angehalten"
    case .replayLimit: "eine Wiederholung hat danach gefragt, die dich schon so oft benachrichtigt hat, wie eine darf"
    case .replayForcedLimit: "eine Wiederholung wollte es erzwingen und hat das schon so oft getan, wie eine darf"
    }
  }
}
