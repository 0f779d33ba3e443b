/// Names and sentences of the built-in log.
enum ChatPhrases {
  static let groups = [
    "Climbing Tuesday", "Flat 4b", "Release crew", "Book club", "Choir altos", "Parents of 3c", "Allotment 17",
    "Ride to the sea",
  ]
  static let directConversations = 4
  static let people = [
    "Aino", "Bilal", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kaito", "Leila", "Matteo",
    "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Samir", "Tove", "Ugo", "Vera", "Wanjiru", "Ximena", "Yusuf", "Zoë",
    "Søren", "Łucja", "Ángel", "美咲", "안나", "Ольга", "d_moll", "ted.b", "mrs-t", "K8", "|jules|", "le petit", "Noor",
    "Björk",
  ]
  static let greetings = [
    "hi all", "good morning ☀️", "hey hey", "hello from the train", "evening everyone", "hi! back online",
    "moin 👋", "hola a todos",
  ]
  static let questions = [
    "who has the keys?", "can somebody cover my shift on Friday?", "is the meeting still at ten?",
    "what time do we start?", "did the parcel arrive?", "has anyone tried the new wall yet?",
    "do we need more chairs?", "where did we leave the drill?", "how was the exam?", "which chapter are we on?",
    "does the 14:32 stop in Lund?", "shall I bring cake or salad?", "who is driving?", "have you seen my scarf?",
    "any news from the landlord?", "¿vienes mañana?", "kommst du nachher noch vorbei?",
    "did you get the build to pass?", "which branch has the fix?", "what was the address again?",
  ]
  static let answers = [
    "yes", "no, sorry", "I think so", "half past seven", "on the kitchen table", "ask at the desk",
    "same as last week", "I can do it", "not yet, tomorrow", "it should be in the shared folder",
    "yes, and bring the long rope", "chapter nine, up to the storm", "two more would be good",
    "it stopped working after the update, try turning it off and on", "the second one, the first was reverted",
    "no idea, let me look", "claro que sí", "ja, gegen acht", "salad please, we have three cakes already",
    "it arrived, it's with the neighbours on the second floor", "done ✅",
  ]
  static let chatter = [
    "lovely weather", "just missed the bus", "so tired today", "that was a great evening",
    "the cat is on the roof again",
    "I will be ten minutes late", "we are out of milk", "see https://example.org/timetable for the new times",
    "the tomatoes are finally red", "tests are green", "it rains here", "I cannot stop humming that song",
    "the lift is broken again", "nobody told me there would be goats", "left my phone at work, back now",
    "ok", "same here", "haha", "well done everyone", "this made my day", "the concert is sold out, but there is a list",
    "panic: index out of range [3] with length 3, again, in the same place as yesterday",
  ]
  static let urgent = [
    "urgent: the water is off, is it only us?", "can somebody call me asap please?",
    "emergency, the oven is smoking, who is at home?", "need help right now, the demo is in five minutes!",
  ]
  static let emoji = ["😂😂", "👍", "🎉🎉🎉", "❤️", "🤷", "👨‍👩‍👧‍👦🏕️", "🙈 oh no", "🚴‍♀️💨", "🍅🍅🍅", "🇫🇮🇯🇵"]
}
