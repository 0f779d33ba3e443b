// The page of an app with Nudge: signs in and out, says what it shows, and has the banners. It expects `app`, the app's own part:
// token() (FCM's getToken with this registration, or a subscription), deleteToken(), show(conversationId, messageId), banner(push) and
// hideBanner(messageId).
"use strict";

const now = () => Date.now() / 1000;
const makeId = () => crypto.randomUUID();

class NudgePage {
  constructor(app) {
    this.app = app;
    // Tabs share the device: one that is closed does not end the others.
    this.tabId = makeId();
    this.banners = new Nudge.BannerQueue(document.visibilityState === "visible");
    navigator.serviceWorker.addEventListener("message", ({ data }) => this.#told(data));
    document.addEventListener("visibilitychange", () => this.#visibilityChanged());
    for (const input of ["pointerdown", "keydown"]) document.addEventListener(input, () => { this.lastInput = Date.now(); });
    setInterval(() => this.#reportActivity(), 60_000);
  }

  /** At each start of the page. */
  async start(registration) {
    this.registration = registration;
    const { userId, signOut } = await NudgeStore.change((state) => {
      state.deviceId ??= makeId();
      return state;
    });
    this.userId = userId;
    const { deviceId } = await NudgeStore.change((state) => state);
    this.deviceId = deviceId;
    this.signOut = new Nudge.SignOut(deviceId, makeId, signOut?.kept);
    this.formerJwt = signOut?.jwt ?? null;
    await this.#perform(this.signOut.retry(now()));
    addEventListener("online", () => this.#perform(this.signOut.retry(now())));
    const query = new URLSearchParams(location.search);
    if (this.userId && query.has("conversation")) this.opened(query.get("conversation"), query.get("message"));
  }

  async signedIn(userId, jwt) {
    await this.#perform(this.signOut.signedIn());
    this.userId = userId;
    await NudgeStore.change((state) => Object.assign(state, { userId, jwt, presenter: {}, badge: {}, open: null }));
    const fields = { userId, deviceId: this.deviceId, platform: "web", locale: navigator.language };
    await this.#publish(Nudge.event("device.registered", { ...fields, ...await this.app.token() }, Date.now(), makeId()));
    await this.#reportActivity();
  }

  signOutTapped() { return this.userId ? this.#perform(this.signOut.begin(this.userId, now())) : null; }

  /** A conversation is on the screen; null: none. */
  async opened(conversationId, messageId = null) {
    const former = this.open;
    this.open = conversationId;
    const number = await NudgeStore.change((state) => {
      state.open = conversationId;
      const badge = new Nudge.Badge(state.badge);
      const number = conversationId ? badge.opened(conversationId) : badge.closed();
      state.badge = { ...badge };
      return number;
    });
    if (navigator.setAppBadge) await navigator.setAppBadge(number).catch(() => {});
    if (conversationId) {
      this.#ask({ opened: conversationId });
      this.#show(this.banners.conversationOpened(conversationId, now()));
      this.app.show(conversationId, messageId);
    } else {
      this.banners.open = null;
    }
    for (const read of [former, conversationId]) if (read) await this.#read(read);
    await this.#reportActivity();
  }

  bannerTapped() { this.#show(this.banners.tapped(now())); }
  bannerDismissed() { this.#show(this.banners.dismissed(now())); }

  /** Notifications are the worker's. */
  async #ask(what) { (await navigator.serviceWorker.ready).active.postMessage(what); }

  #told({ banner, open }) {
    if (banner && banner.recipientId === this.userId) this.#show(this.banners.receive(banner, now()));
    if (open) this.opened(open.conversationId, open.messageId);
  }

  #show(actions) {
    for (const action of actions) {
      if (action.show) this.app.banner(this.banners.showing.banner);
      if (action.hide) this.app.hideBanner(action.hide);
      if (action.open) this.opened(action.open.conversationId, action.open.messageId);
      if (action.wake || action.cancelWake) clearTimeout(this.timer);
      if (action.wake) this.timer = setTimeout(() => this.#show(this.banners.timeReached(now())), (action.wake - now()) * 1000);
    }
  }

  /** The worker has left these pushes to the page, which did not come to show them. */
  #enteredBackground() {
    const { waiting } = this.banners, actions = this.banners.enteredBackground();
    this.#show(actions);
    for (const { notify } of actions) {
      const banner = notify && waiting.find(({ messageId }) => messageId === notify);
      if (banner) this.#ask({ notify: banner });
    }
  }

  async #visibilityChanged() {
    const isVisible = document.visibilityState === "visible";
    if (isVisible) this.banners.isForeground = true; else this.#enteredBackground();
    if (!isVisible && this.open) await this.#read(this.open);
    await this.#reportActivity();
  }

  /** What this device shows. Five minutes after the last input nobody is there. */
  async #reportActivity() {
    if (!this.userId) return;
    const isVisible = document.visibilityState === "visible";
    const isIdle = this.lastInput !== undefined && Date.now() - this.lastInput >= 300_000;
    await this.#publish(Nudge.event("user.activity", {
      userId: this.userId, deviceId: this.deviceId, state: !isVisible ? "background" : isIdle ? "idle" : "foreground",
      conversationId: isVisible && !isIdle ? this.open ?? null : null, tabId: this.tabId,
      ...(this.lastInput === undefined ? {} : { lastInputAt: this.lastInput }),
    }, Date.now(), makeId()));
  }

  #read(conversationId) {
    return this.#publish(Nudge.event("message.read", { userId: this.userId, conversationId, deviceId: this.deviceId },
      Date.now(), makeId()));
  }

  async #publish(event) {
    await NudgeStore.change((state) => { state.outbox.push(event); });
    await NudgeStore.publish();
  }

  async #perform(actions) {
    for (const action of actions) {
      // The credentials are kept as long as the sign-out is.
      if (action.keep) await NudgeStore.change((state) => {
        state.signOut = { kept: action.keep, jwt: state.jwt ?? this.formerJwt };
        this.formerJwt = state.signOut.jwt;
      });
      if (action.removeKept) await NudgeStore.change((state) => { delete state.signOut; });
      if (action.publish) this.#end(action.publish);
      if (action.cancelWake) clearTimeout(this.signOutTimer);
      if (action.wake) {
        this.signOutTimer = setTimeout(() => this.#perform(this.signOut.timeReached(now())), (action.wake - now()) * 1000);
      }
      if (action.deleteToken) {
        this.app.deleteToken().then(() => true, () => false).then((done) => this.#perform(this.signOut.tokenDeleted(done)));
      }
      if (action.clear) await this.#clear();
    }
  }

  async #end(event) {
    const answer = await fetch("/v1/events", {
      method: "POST", headers: { "Content-Type": "application/json", "Authorization": `Bearer ${this.formerJwt}` },
      body: JSON.stringify(event),
    }).catch(() => null);
    // Credentials that are gone do not come back: FCM's token is deleted instead.
    const isDone = answer !== null && ![429, 503].includes(answer.status);
    await this.#perform(this.signOut.finished(event.eventId, isDone));
  }

  async #clear() {
    this.userId = null;
    this.open = null;
    this.banners.waiting = [];
    this.#show(this.banners.enteredBackground());
    this.banners.isForeground = true;
    await NudgeStore.change((state) => Object.assign(state, {
      userId: null, jwt: null, presenter: {}, badge: {}, outbox: [], open: null }));
    this.#ask({ signedOut: true });
    if (navigator.setAppBadge) await navigator.setAppBadge(0).catch(() => {});
  }
}
