// The app's side of Nudge in JavaScript: values without I/O, as docs/apps.md says and Schemas/app/*.json checks.
// A page loads it with <script>, a service worker with importScripts. State is plain JSON: store it, and pass it back.
(() => {
  "use strict";
  const OPTIONS = { alert: ["banner", "list", "sound", "badge"], silent: ["list", "badge"], badge: ["badge"] };
  const BY_PRIORITY = { high: "alert", medium: "silent", low: "badge" };
  const REMEMBERED = 256;
  const last = (list, limit = REMEMBERED) => list.slice(-limit);

  class PushError extends Error {}

  /** The push in FCM's `data`. Throws PushError, whose message is the key that is wrong. */
  function parsePush(data) {
    const need = (key) => {
      if (typeof data[key] !== "string" || data[key] === "") throw new PushError(key);
      return data[key];
    };
    const count = (key, least = 0) => {
      const value = need(key);
      if (!/^[0-9]+$/.test(value) || Number(value) < least) throw new PushError(key);
      return Number(value);
    };
    const type = need("type");
    const push = {
      type, pushId: need("pushId"), recipientId: need("recipientId"), conversationId: data.conversationId,
      messageId: data.messageId, senderId: data.senderId, title: data.title, body: data.body,
      badge: data.badge === undefined ? null : count("badge"),
      timestamp: data.timestamp === undefined ? null : count("timestamp"),
    };
    switch (type) {
      case "badge":
        count("badge");
        return push;
      case "read":
        need("conversationId");
        count("badge");
        return push;
      case "deleted":
        need("conversationId");
        need("messageId");
        count("badge");
        return push;
      case "digest": {
        let lines;
        try { lines = JSON.parse(need("lines")); } catch { throw new PushError("lines"); }
        if (!Array.isArray(lines)) throw new PushError("lines");
        push.lines = lines;
        push.presentation = need("presentation");
        // Of a catch-up that shows nothing any more no message is left.
        const least = push.presentation === "badge" ? 0 : 1;
        push.messages = count("messages", least);
        push.conversations = count("conversations", least);
        if (!OPTIONS[push.presentation]) throw new PushError("presentation");
        return push;
      }
      case "smart_notification":
      case "new_message":
        need("conversationId");
        need("messageId");
        push.replaces = data.replaces === "true";
        if (!push.replaces) need("senderId");
        push.priority = need("priority");
        if (!BY_PRIORITY[push.priority]) throw new PushError("priority");
        push.presentation = data.presentation ?? BY_PRIORITY[push.priority];
        if (!OPTIONS[push.presentation]) throw new PushError("presentation");
        return push;
      default:
        throw new PushError("type");
    }
  }

  const isMessage = (push) => push.type === "smart_notification" || push.type === "new_message";

  /** How far a conversation was read. `time` is in seconds. */
  const markOf = (push) => ({ conversationId: push.conversationId, messageId: push.messageId ?? null, time: push.timestamp });

  /** Whether a mark certainly covers a message, judged without its neighbours. */
  const covers = (mark, conversationId, messageId, time) =>
    mark.conversationId === conversationId
    && (mark.messageId === messageId || mark.time !== null && time !== null && Math.floor(time) < Math.floor(mark.time));

  /** Which messages of the conversation, {messageId, time} in the order they arrived, a mark covers. */
  function covered(mark, messages) {
    const place = mark.messageId === null ? -1 : messages.findLastIndex((m) => m.messageId === mark.messageId);
    const bound = place >= 0 && messages[place].time !== null ? messages[place].time : mark.time;
    return messages.map((message, index) => {
      if (mark.messageId !== null && message.messageId === mark.messageId) return true;
      if (bound !== null && message.time !== null) {
        if (Math.floor(message.time) !== Math.floor(bound)) return message.time < bound;
      } else if (mark.messageId === null) {
        return mark.time === null || message.time === null;
      }
      return place >= 0 ? index < place : mark.messageId === null;
    });
  }

  /** What to do with a push, and whether to show an in-app banner. */
  class Presenter {
    constructor(state = {}) {
      Object.assign(this, {
        userId: null, isForeground: false, openConversationId: null, hasLiveChannel: false, announced: [], listed: [],
        deleted: [], marks: [], notices: [], endedCatchUps: [],
      }, state);
    }

    /** Another user is signed in, or nobody: forgets the former one. */
    userChanged(userId) {
      if (userId === this.userId) return;
      const { isForeground, hasLiveChannel } = this;
      Object.assign(this, new Presenter({ userId, isForeground, hasLiveChannel }));
    }

    receive(push) {
      if (this.userId === null || push.recipientId !== this.userId) return { drop: "other_recipient" };
      const key = JSON.stringify([push.conversationId, push.messageId]);
      switch (push.type) {
        case "badge": return { setBadge: push.badge };
        case "read":
          this.conversationRead(markOf(push));
          return { removeUpTo: markOf(push), badge: push.badge };
        case "deleted":
          this.deleted = last([...this.deleted, key]);
          return { remove: { conversationId: push.conversationId, messageId: push.messageId }, badge: push.badge };
        case "digest": return this.#receiveCatchUp(push);
        default: return this.#receiveMessage(push, key);
      }
    }

    #receiveMessage(push, key) {
      const nothing = (reason) => push.badge === null ? { drop: reason } : { setBadge: push.badge };
      if (this.deleted.includes(key)) return nothing("taken_back");
      if (this.isForeground && push.conversationId === this.openConversationId) return { drop: "open_conversation" };
      if (this.#isRead(push.conversationId, push.messageId, push.timestamp)) return nothing("already_read");
      const wasShown = push.presentation !== "badge" && (this.announced.includes(key) || this.listed.includes(key));
      if (wasShown && !push.replaces) return nothing("already_shown");
      const options = this.#options(push.presentation);
      if (push.presentation === "silent" && this.isForeground) {
        if (this.hasLiveChannel || push.replaces) {
          this.listed = last([...this.listed, key]);
        } else {
          options.unshift("banner");
          this.announced = last([...this.announced, key]);
        }
      } else if (push.presentation !== "badge") {
        this.announced = last([...this.announced, key]);
      }
      return { present: options, badge: push.badge };
    }

    #receiveCatchUp(push) {
      if (push.messages === 0) {
        this.endedCatchUps = last([...this.endedCatchUps, push.pushId]);
        return { removeCatchUp: push.pushId, badge: push.badge };
      }
      const lines = push.lines.filter((line) =>
        !this.deleted.includes(JSON.stringify([line.conversationId, line.messageId]))
        && !this.#isRead(line.conversationId, line.messageId, null));
      if (this.endedCatchUps.includes(push.pushId) || lines.length === 0 && push.lines.length === push.messages) {
        return push.badge === null ? { drop: "already_read" } : { setBadge: push.badge };
      }
      return {
        presentCatchUp: lines.map((line) => line.messageId), options: this.#options(push.presentation), badge: push.badge,
      };
    }

    // In the foreground an alert leaves nothing in the list.
    #options(presentation) {
      return OPTIONS[presentation].filter((o) => !(this.isForeground && presentation === "alert" && o === "list"));
    }

    #isRead(conversationId, messageId, time) {
      return this.marks.some((mark) => covers(mark, conversationId, messageId, time));
    }

    /** The user has read a conversation up to a mark, here or elsewhere. */
    conversationRead(mark) {
      const former = this.marks.find((m) => m.conversationId === mark.conversationId);
      if (former && former.time !== null && mark.time !== null && mark.time < former.time) return;
      this.marks = last([...this.marks.filter((m) => m !== former), mark]);
    }

    /** Whether to show an in-app banner of the gateway. */
    admits(banner) {
      const key = JSON.stringify([banner.conversationId, banner.messageId]);
      if (this.userId === null || banner.userId !== this.userId || banner.senderId === this.userId || !this.isForeground
        || banner.conversationId === this.openConversationId || this.deleted.includes(key) || this.announced.includes(key)
        || this.#isRead(banner.conversationId, banner.messageId, banner.occurredAt / 1000)) return false;
      this.announced = last([...this.announced, key]);
      return true;
    }
  }

  /** The number on the app's icon: the services' less what was read here since. */
  class Badge {
    constructor(state = {}) {
      Object.assign(this, { mode: "conversations", unread: {}, counted: [], open: null, difference: 0 }, state);
    }

    get #count() {
      const lists = Object.values(this.unread);
      return this.mode === "conversations" ? lists.length : lists.reduce((sum, list) => sum + list.length, 0);
    }

    get value() { return Math.max(0, this.#count + this.difference); }

    /** A push that was not dropped. */
    received(push) {
      const { conversationId, messageId } = push;
      if (isMessage(push) || push.type === "badge" && conversationId && messageId) {
        const key = JSON.stringify([conversationId, messageId]);
        if (!this.counted.includes(key)) {
          this.counted = last([...this.counted, key]);
          if (conversationId !== this.open) (this.unread[conversationId] ??= []).push({ messageId, time: push.timestamp });
        }
      } else if (push.type === "read") {
        this.read(markOf(push));
      } else if (push.type === "deleted") {
        this.#keep(conversationId, (message) => message.messageId !== messageId);
      }
      if (push.badge !== null) this.difference = push.badge - this.#count;
      return this.value;
    }

    /** The app was launched: the icon shows this number, and these pushes are shown. */
    launched(number, delivered) {
      for (const push of delivered) this.received(push);
      this.difference = number - this.#count;
      return this.value;
    }

    /** A conversation was read up to a mark. */
    read(mark) {
      const list = this.unread[mark.conversationId] ?? [];
      const isCovered = covered(mark, list);
      this.#keep(mark.conversationId, (_, index) => !isCovered[index]);
      return this.value;
    }

    /** A conversation is on the screen. */
    opened(conversationId) {
      this.open = conversationId;
      delete this.unread[conversationId];
      return this.value;
    }

    closed() {
      this.open = null;
      return this.value;
    }

    signedOut() {
      Object.assign(this, new Badge({ mode: this.mode }));
      return 0;
    }

    #keep(conversationId, isKept) {
      const rest = (this.unread[conversationId] ?? []).filter(isKept);
      if (rest.length > 0) this.unread[conversationId] = rest; else delete this.unread[conversationId];
    }
  }

  /** Banners inside the app: one at a time for four seconds, at most three wait. Times are in seconds. */
  class BannerQueue {
    constructor(isForeground = true) { Object.assign(this, { isForeground, open: null, showing: null, waiting: [] }); }

    receive(banner, now) {
      const isSame = (other) => other?.messageId === banner.messageId && other?.conversationId === banner.conversationId;
      if (!this.isForeground || banner.conversationId === this.open || isSame(this.showing?.banner)
        || this.waiting.some(isSame)) return [];
      this.waiting.push(banner);
      if (!this.showing) return this.#next(now);
      if (this.waiting.length > 3) this.waiting.shift();
      return [];
    }

    timeReached(now) {
      if (!this.showing || this.showing.since === null) return [];
      const end = this.showing.since + this.showing.left;
      return now >= end ? this.#hide(now) : [{ wake: end }];
    }

    touchBegan(now) {
      if (!this.showing || this.showing.since === null) return [];
      this.showing.left -= now - this.showing.since;
      this.showing.since = null;
      return [{ cancelWake: true }];
    }

    /** A swipe of 50 points up dismisses the banner. */
    touchEnded(up, now) {
      if (!this.showing || this.showing.since !== null) return [];
      if (up >= 50) return this.#hide(now);
      this.showing.since = now;
      return [{ wake: now + Math.max(0, this.showing.left) }];
    }

    tapped(now) {
      if (!this.showing) return [];
      const { conversationId, messageId } = this.showing.banner;
      this.waiting = this.waiting.filter((banner) => banner.conversationId !== conversationId);
      return [{ open: { conversationId, messageId } }, ...this.#hide(now)];
    }

    /** The banner's X. */
    dismissed(now) { return this.#hide(now); }

    conversationOpened(conversationId, now) {
      this.open = conversationId;
      this.waiting = this.waiting.filter((banner) => banner.conversationId !== conversationId);
      return this.showing?.banner.conversationId === conversationId ? this.#hide(now) : [];
    }

    /** What waited was never shown: each becomes a notification without a sound. */
    enteredBackground() {
      this.isForeground = false;
      const unseen = this.waiting.filter((banner) => banner.conversationId !== undefined);
      this.waiting = [];
      const hide = this.showing ? [{ hide: this.showing.banner.messageId }, { cancelWake: true }] : [];
      this.showing = null;
      return [...hide, ...unseen.map((banner) => ({ notify: banner.messageId }))];
    }

    #hide(now) {
      if (!this.showing) return [];
      const hide = this.showing.banner.messageId;
      this.showing = null;
      const next = this.#next(now);
      return [{ hide }, ...(next.length > 0 ? next : [{ cancelWake: true }])];
    }

    #next(now) {
      const banner = this.waiting.shift();
      if (!banner) return [];
      this.showing = { banner, left: 4, since: now };
      return [{ show: banner.messageId }, { wake: now + 4 }];
    }
  }

  /** The conversation of a link such as messageai://conversation/c1. Throws Error: other_scheme, unknown_destination, invalid_id. */
  function parseLink(text, scheme = "messageai") {
    const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?#]*)\/?([^?#]*)/.exec(text);
    if (!match || match[1].toLowerCase() !== scheme.toLowerCase()) throw new Error("other_scheme");
    const path = match[3].replace(/\/$/, "");
    if (match[2].toLowerCase() !== "conversation" || path.includes("/")) throw new Error("unknown_destination");
    let id;
    try { id = decodeURIComponent(path); } catch { throw new Error("invalid_id"); }
    if (id === "" || new TextEncoder().encode(id).length > 256 || /\p{Cc}/u.test(id)) throw new Error("invalid_id");
    return id;
  }

  const linkText = (conversationId, scheme = "messageai") =>
    `${scheme}://conversation/` + encodeURIComponent(conversationId).replace(/[!'()*]/g, (c) =>
      "%" + c.charCodeAt(0).toString(16).toUpperCase());

  /** An event for POST /v1/events. */
  const event = (type, fields, now, eventId) => ({ schemaVersion: 1, type, eventId, occurredAt: Math.round(now), ...fields });

  /** What a response to a notification means: {event}, {open, event}, {openCatchUp}, {none} or {refuse}. `now` in milliseconds. */
  function plan(response, text, push, { userId, deviceId, makeId }, now) {
    if (userId === null) return { refuse: "not_signed_in" };
    if (push.recipientId !== userId) return { refuse: "other_account" };
    if (push.type === "digest") {
      if (response === "open") return { openCatchUp: push.lines.map((line) => line.messageId) };
      return response === "dismiss" ? { none: true } : { refuse: "no_message" };
    }
    if (!isMessage(push)) return { refuse: "no_message" };
    const { conversationId, messageId } = push;
    const send = (type, fields) => ({ event: event(type, fields, now, makeId()) });
    const report = (change) => send(`notification.${change}`, {
      userId, deviceId, pushId: push.pushId, conversationId, messageId,
      ...(push.timestamp === null ? {} : { sentAt: push.timestamp * 1000 }),
    });
    const feedback = (value) => send("feedback.submitted", { userId, conversationId, messageId, feedback: value });
    switch (response) {
      case "reply": {
        const trimmed = text.trim();
        if (trimmed === "") return { refuse: "empty_reply" };
        const eventId = makeId();
        return { event: event("message.created", {
          conversationId, messageId: makeId(), senderId: userId, text: trimmed, replyTo: messageId }, now, eventId) };
      }
      case "mark_read": return send("message.read", { userId, conversationId, messageId, deviceId });
      case "helpful": return feedback("helpful");
      case "not_helpful": return feedback("not_helpful");
      case "open": return { open: { conversationId, messageId }, ...report("opened") };
      default: return report("dismissed");
    }
  }

  /** The receipt of a push; null where it has no message. The same push has the same event id, however often it is reported. */
  const receipt = (push, deviceId, now) => isMessage(push)
    ? event("notification.received", {
      userId: push.recipientId, deviceId, pushId: push.pushId, conversationId: push.conversationId, messageId: push.messageId,
      ...(push.timestamp === null ? {} : { sentAt: push.timestamp * 1000 }),
    }, now, `received.${push.pushId}.${deviceId}`.slice(0, 128))
    : null;

  /** The id of a message's notification; without a message, of its conversation's. */
  async function notificationId(conversationId, messageId = "") {
    const bytes = (text) => new TextEncoder().encode(text);
    const text = bytes(`${bytes(conversationId).length}:${conversationId}${messageId}`);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
    return [...hash.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** A sign-out: kept until the services accept it. Times are in seconds. */
  class SignOut {
    constructor(deviceId, makeId, kept = { events: [], deletesToken: false }) {
      Object.assign(this, { deviceId, makeId, kept, awaited: null });
    }

    begin(userId, now) {
      if (this.awaited) return [];
      const ended = event("device.unregistered", { userId, deviceId: this.deviceId }, now * 1000, this.makeId());
      this.awaited = { eventId: ended.eventId, until: now + 5 };
      this.kept = { ...this.kept, events: [...this.kept.events.slice(-7), ended] };
      return [this.#store, { publish: ended }, { wake: now + 5 }];
    }

    finished(eventId, succeeded) {
      const actions = [];
      if (succeeded && this.kept.events.some((e) => e.eventId === eventId)) {
        const events = this.kept.events.filter((e) => e.eventId !== eventId);
        this.kept = { events, deletesToken: events.length > 0 && this.kept.deletesToken };
        actions.push(this.#store);
      }
      if (this.awaited?.eventId !== eventId) return actions;
      return [...actions, { cancelWake: true }, ...this.#clear(!succeeded)];
    }

    timeReached(now) {
      if (!this.awaited) return [];
      return now >= this.awaited.until ? this.#clear(true) : [{ wake: this.awaited.until }];
    }

    tokenDeleted(succeeded) {
      if (!succeeded || !this.kept.deletesToken) return [];
      this.kept = { ...this.kept, deletesToken: false };
      return [this.#store];
    }

    /** At launch, and when there is a network again. */
    retry(now) {
      const events = this.kept.events.filter((e) => e.occurredAt >= (now - 7 * 86400) * 1000);
      const isShorter = events.length < this.kept.events.length;
      this.kept = { ...this.kept, events };
      const again = events.filter((e) => e.eventId !== this.awaited?.eventId);
      return [
        ...(isShorter ? [this.#store] : []), ...again.map((e) => ({ publish: e })),
        ...(this.kept.deletesToken ? [{ deleteToken: true }] : []),
      ];
    }

    /** Somebody signed in: the token is theirs. */
    signedIn() { return this.tokenDeleted(true); }

    get #store() {
      const isEmpty = this.kept.events.length === 0 && !this.kept.deletesToken;
      return isEmpty ? { removeKept: true } : { keep: this.kept };
    }

    #clear(hasFailed) {
      this.awaited = null;
      if (hasFailed) this.kept = { ...this.kept, deletesToken: true };
      return [...(hasFailed ? [this.#store] : []), { clear: true }, ...(hasFailed ? [{ deleteToken: true }] : [])];
    }
  }

  globalThis.Nudge = {
    PushError, Presenter, Badge, BannerQueue, SignOut, parsePush, isMessage, markOf, covered, parseLink, linkText, event, plan, receipt,
    notificationId,
  };
})();
