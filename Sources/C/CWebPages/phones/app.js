// The app on a phone, as docs/apps.md says: the public HTTP API, and live.js and nudge.js of Schemas/app/web as they are. What is on the
// screen is in screen.js.

import { live } from "./live.js";

const { BannerQueue, Presenter, event } = globalThis.Nudge;
const now = () => Date.now() / 1000;
const makeId = () => crypto.randomUUID();
const keyOf = ({ conversationId, messageId }) => JSON.stringify([conversationId, messageId]);

/** How often an open app says so, in milliseconds. */
const renewal = 60_000;
/** Nobody is at an app that was not touched for this long, in milliseconds. */
const patience = 300_000;
/** A token is asked for anew this long before its end, in seconds. */
const margin = 30;
/** The app remembers this many pushes that it has shown inside, and messages of a conversation. */
const most = 200;

export class App {
  /** Open, about to open, or open with the words of why it cannot be. */
  isOpen = false;
  /** Whether the stream is open. */
  isLive = false;
  /** Why it cannot be used. */
  objection = null;
  /** The number on the icon. */
  badge = 0;
  /** By id: {id, title, unread, messages: [{id, who, text, isOwn}]}. The last one that something came for is the last. */
  chats = new Map();
  /** The id of the conversation on the screen. */
  chat = null;

  #number;
  #changed;
  #session = null;
  #deviceId = null;
  #presenter = new Presenter();
  #banners = new BannerQueue();
  #timer;
  #end = null;
  /** The last event that was published, or was given up. */
  #sent = Promise.resolve();
  #touchedAt = 0;
  /** Banners that wait for their turn: what the stream's answer waits for. */
  #answers = new Map();
  /** Ids of pushes that were shown inside, or came while their conversation was open. */
  #shown = new Set();
  /** When conversations were read, in milliseconds. */
  #readAt = new Map();

  /** `changed` is called when what is on the screen has changed. */
  constructor(number, changed) {
    this.#number = number;
    this.#changed = changed;
  }

  get banner() { return this.#banners.showing?.banner ?? null; }

  /** Whether the app has taken a notification off the lock screen, or shown its message itself. */
  hasTakenAway(entry) {
    // A push says its second. One of the second in which the conversation was read may be newer, so it stays.
    const sentAt = entry.sentAt ? entry.sentAt * 1000 + 999 : entry.at;
    return this.#shown.has(entry.pushId) || sentAt <= (this.#readAt.get(entry.thread) ?? 0);
  }

  // MARK: Opening and closing

  async open() {
    this.isOpen = true;
    this.objection = null;
    const end = this.#end = new AbortController();
    this.touched();
    this.#changed();
    try {
      const session = await this.#signIn();
      if (end.signal.aborted) return;
      this.#presenter = new Presenter({ userId: session.userId, isForeground: true });
      this.#banners = new BannerQueue();
      await this.#load();
      await this.#reportActivity();
    } catch (error) {
      if (!end.signal.aborted) this.refuse(error.message);
      return;
    }
    if (end.signal.aborted) return;
    const address = new URL("/v1/live", this.#session.api);
    address.search = new URLSearchParams({ deviceId: this.#deviceId, answers: "true" });
    live(address.href, {
      token: () => this.#token(),
      take: (name, data) => this.#take(name, data),
      changed: isLive => {
        this.isLive = isLive && !end.signal.aborted;
        this.#presenter.hasLiveChannel = this.isLive;
        this.#changed();
      },
      signal: end.signal,
    });
    const reports = setInterval(() => this.#reportActivity().catch(() => {}), renewal);
    end.signal.addEventListener("abort", () => clearInterval(reports));
  }

  close() {
    const wasSignedIn = this.#deviceId !== null && this.objection === null;
    this.#leave();
    if (!wasSignedIn) return;
    const former = this.chat;
    this.chat = this.#presenter.openConversationId = null;
    if (former !== null) this.#publish("message.read", { conversationId: former, deviceId: this.#deviceId }).catch(() => {});
    this.#publish("user.activity", { deviceId: this.#deviceId, state: "background" }).catch(() => {});
  }

  /** Says why the app cannot be used. */
  refuse(objection) {
    this.#leave();
    this.isOpen = true;
    this.objection = objection;
    this.#changed();
  }

  #leave() {
    this.#end?.abort();
    this.isOpen = this.isLive = false;
    this.objection = null;
    this.#act(this.#banners.enteredBackground());
    this.#presenter.isForeground = false;
  }

  /** The page is looked at, or no longer. */
  seen(isSeen) {
    if (this.objection !== null) return;
    this.#presenter.isForeground = this.#banners.isForeground = isSeen;
    if (!isSeen) this.#act(this.#banners.enteredBackground());
    this.#reportActivity().catch(() => {});
  }

  touched() {
    const wasIdle = Date.now() - this.#touchedAt >= patience;
    this.#touchedAt = Date.now();
    if (wasIdle && this.isLive) this.#reportActivity().catch(() => {});
  }

  // MARK: The API

  async #signIn() {
    const answer = await fetch("apps", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ phone: this.#number }), cache: "no-store" });
    const session = await answer.json();
    if (!answer.ok) throw new Error(session.message);
    if (this.#session && session.userId !== this.#session.userId) {
      // Another account is on the phone now.
      this.#deviceId = null;
      this.chats.clear();
    }
    return this.#session = session;
  }

  async #token() {
    return (this.#session.expiresAt - now() < margin ? await this.#signIn() : this.#session).token;
  }

  /** Answers with JSON. Throws what the API says of a failure. */
  async #ask(method, path, body) {
    for (let left = 4; ; left--) {
      const headers = { Authorization: `Bearer ${await this.#token()}`, ...(body ? { "Content-Type": "application/json" } : {}) };
      // The last events of an app that closes are sent although its page goes.
      const answer = await fetch(new URL(path, this.#session.api), { method, headers, body, cache: "no-store", keepalive: !this.isOpen })
        .catch(() => { throw new Error("The HTTP API does not answer."); });
      const json = await answer.json().catch(() => null);
      if (answer.ok) return json;
      if (left === 0 || ![429, 503].includes(answer.status)) throw new Error(json?.message ?? json?.results?.[0]?.message ?? `The HTTP API answers ${answer.status}.`);
      await new Promise(done => setTimeout(done, (Number(answer.headers.get("Retry-After")) || 1) * 1000));
    }
  }

  #publish(type, fields) {
    const user = type === "message.created" ? "senderId" : "userId";
    const body = JSON.stringify(event(type, { [user]: this.#session.userId, ...fields }, Date.now(), makeId()));
    // In the order in which they happened: a report that is late must not follow the one that the app was closed.
    const sent = this.#sent.then(() => this.#ask("POST", "/v1/events", body));
    this.#sent = sent.catch(() => {});
    return sent;
  }

  /** What the pipeline knows of the person: unread numbers, and where the emulator does not know it, which device this is. */
  async #load() {
    this.#deviceId ??= this.#session.deviceId ?? null;
    const me = await this.#ask("GET", "/v1/me");
    if (this.#deviceId === null) {
      const own = me.devices.filter(device => device.platform === this.#session.platform && device.isReachable);
      if (own.length !== 1) throw new Error(`The app cannot be opened: ${own.length} devices of the person are of this platform, and nothing says which of them this is (devices in the file of --apps).`);
      this.#deviceId = own[0].deviceId;
    }
    this.badge = me.badge;
    for (const chat of this.chats.values()) chat.unread = 0;
    for (const { conversationId, unread } of me.unread.byConversation) this.#chat(conversationId).unread = unread;
    this.#changed();
  }

  #reportActivity() {
    if (this.#deviceId === null) return Promise.resolve();
    const isIdle = Date.now() - this.#touchedAt >= patience;
    return this.#publish("user.activity", {
      deviceId: this.#deviceId, state: document.hidden ? "background" : isIdle ? "idle" : "foreground",
      conversationId: document.hidden || isIdle ? null : this.chat, lastInputAt: this.#touchedAt });
  }

  // MARK: What the stream brings

  /** Returns whether a banner was shown, once that is known. */
  async #take(name, data) {
    switch (name) {
      case "banner": {
        this.#remember(data, data.groupName ?? data.senderName, data.senderName, data.preview);
        if (document.hidden || !this.#presenter.admits(data)) return false;
        return this.#queue(data);
      }
      case "notice": this.#queue({ messageId: `notice ${data.occurredAt}`, senderName: "Nudge", preview: data.text }); break;
      case "badge":
        this.badge = data.badge;
        for (const { conversationId, unread } of data.conversations) this.#chat(conversationId).unread = unread;
        break;
      case "read":
        this.#presenter.conversationRead({ conversationId: data.conversationId, messageId: data.messageId ?? null, time: data.sentAt / 1000 });
        this.#takenAway(data.conversationId, data.sentAt);
        this.#drop(banner => banner.conversationId === data.conversationId && banner.occurredAt <= data.sentAt);
        break;
      case "message.updated": {
        const message = this.chats.get(data.conversationId)?.messages.find(({ id }) => id === data.messageId);
        if (message) message.text = data.preview;
        for (const banner of [this.banner, ...this.#banners.waiting]) if (banner && keyOf(banner) === keyOf(data)) banner.preview = data.preview;
        break;
      }
      case "message.withdrawn": {
        const chat = this.chats.get(data.conversationId);
        if (chat) chat.messages = chat.messages.filter(({ id }) => id !== data.messageId);
        this.#presenter.deleted.push(keyOf(data));
        this.#drop(banner => keyOf(banner) === keyOf(data));
        break;
      }
      case "reset": await this.#load().catch(() => {}); break;
    }
    this.#changed();
    return false;
  }

  // MARK: What the phone gets

  /** Pushes have come, or notifications went. `former`: what there was before; null: nothing. */
  delivered(view, former) {
    // A push carries the badge; what the stream said before is older.
    if (view.badge !== former?.badge || !this.isOpen && view.pushes !== former.pushes) this.badge = view.badge;
    for (const entry of view.entries) if (entry.messageId) this.#remember({ conversationId: entry.thread, messageId: entry.messageId }, null, entry.title, entry.body);
    if (!this.isOpen || this.objection !== null) return;
    const known = new Set(former?.entries.map(entry => entry.pushId));
    for (const entry of view.entries) if (!known.has(entry.pushId)) this.#arrived(entry);
  }

  /** A notification came while the app is in front: an alert is a banner inside, unless the stream has brought it. */
  #arrived(entry) {
    const banner = { conversationId: entry.thread, messageId: entry.messageId ?? entry.pushId, pushId: entry.pushId, senderName: entry.title, preview: entry.body, occurredAt: entry.at };
    if (!entry.messageId) {
      // A catch-up.
      if (entry.presentation === "alert") this.#queue({ ...banner, conversationId: undefined });
      return;
    }
    const result = this.#presenter.receive({
      type: "new_message", pushId: entry.pushId, recipientId: this.#session?.userId ?? null, conversationId: entry.thread, messageId: entry.messageId,
      presentation: entry.presentation, replaces: entry.replaced > 0, badge: null, timestamp: entry.sentAt ?? null });
    if (result.present?.includes("banner")) this.#queue(banner);
    if (result.drop === "open_conversation") this.#hide(entry.pushId);
  }

  #hide(pushId) {
    if (pushId) this.#shown.add(pushId);
    if (this.#shown.size > most) this.#shown.delete(this.#shown.values().next().value);
  }

  #takenAway(conversationId, at) { this.#readAt.set(conversationId, Math.max(at, this.#readAt.get(conversationId) ?? 0)); }

  #chat(id) {
    if (!this.chats.has(id)) this.chats.set(id, { id, title: id, unread: 0, messages: [] });
    return this.chats.get(id);
  }

  #remember({ conversationId, messageId }, title, who, text) {
    const chat = this.#chat(conversationId);
    // A push says who wrote, a banner also where.
    if (title || chat.title === conversationId) chat.title = title ?? who;
    if (chat.messages.some(({ id }) => id === messageId)) return;
    chat.messages = [...chat.messages, { id: messageId, who, text, isOwn: false }].slice(-most);
    this.chats.delete(conversationId);
    this.chats.set(conversationId, chat);
  }

  // MARK: Banners

  /** Resolves to whether it was shown. */
  #queue(banner) {
    return new Promise(answer => {
      this.#answers.set(banner, answer);
      this.#act(this.#banners.receive(banner, now()));
    });
  }

  #drop(isGone) {
    this.#banners.waiting = this.#banners.waiting.filter(banner => !isGone(banner));
    this.#act(this.banner && isGone(this.banner) ? this.#banners.dismissed(now()) : []);
  }

  #act(actions) {
    for (const action of actions) {
      if (action.wake || action.cancelWake) clearTimeout(this.#timer);
      if (action.wake) this.#timer = setTimeout(() => this.#act(this.#banners.timeReached(now())), Math.max(0, (action.wake - now()) * 1000));
      if (action.open?.conversationId) this.openChat(action.open.conversationId);
    }
    for (const [banner, answer] of this.#answers) {
      if (this.#banners.waiting.includes(banner)) continue;
      this.#answers.delete(banner);
      const isShown = banner === this.banner;
      // One that was not shown comes as its push.
      if (isShown) this.#hide(banner.pushId); else this.#presenter.announced = this.#presenter.announced.filter(key => key !== keyOf(banner));
      answer(isShown);
    }
    this.#changed();
  }

  bannerTapped() {
    this.touched();
    this.#act(this.#banners.tapped(now()));
  }

  bannerDismissed() {
    this.touched();
    this.#act(this.#banners.dismissed(now()));
  }

  // MARK: Conversations

  /** Shows a conversation; null: the list. What is shown is read. */
  openChat(id) {
    this.touched();
    const former = this.chat;
    this.chat = this.#presenter.openConversationId = id;
    if (id === null) this.#banners.open = null;
    else {
      this.#chat(id).unread = 0;
      this.#takenAway(id, Date.now());
      this.#act(this.#banners.conversationOpened(id, now()));
    }
    for (const conversationId of [former, id]) {
      if (conversationId !== null) this.#publish("message.read", { conversationId, deviceId: this.#deviceId }).catch(() => {});
    }
    this.#reportActivity().catch(() => {});
    this.#changed();
  }

  /** Writes in the open conversation. Throws what the API says of a failure. */
  async send(text) {
    this.touched();
    const { chat: conversationId } = this, messageId = makeId();
    await this.#publish("message.created", { conversationId, messageId, text });
    const chat = this.#chat(conversationId);
    chat.messages = [...chat.messages, { id: messageId, who: this.#session.userId, text, isOwn: true }].slice(-most);
    this.#changed();
  }
}
