// The service worker of an app with Nudge: shows pushes of FCM or of Web Push, and reports them. It needs no Firebase library: the page
// passes its registration to getToken.
importScripts("nudge.js", "store.js");

const MARK_READ = "MARK_READ_ACTION";
// Words of Schemas/app/words.json; an app has those of its languages.
const MARK_READ_TITLE = { de: "Als gelesen markieren", es: "Marcar como leído", fr: "Marquer comme lu", ja: "既読にする" };

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(receive(event.data?.json() ?? event.notification.data)));
self.addEventListener("notificationclick", (event) => event.waitUntil(clicked(event.notification, event.action)));
self.addEventListener("notificationclose", (event) => event.waitUntil(dismissed(event.notification)));
self.addEventListener("message", (event) => event.waitUntil(NudgeStore.inOrder(() => asked(event.data ?? {}))));

/** Pushes are handled in the order of their arrival: browsers handle several at once, and an edit could overtake its message. */
async function receive(message) {
  await NudgeStore.inOrder(() => handle(message));
  await NudgeStore.publish();
}

async function handle(message) {
  // FCM wraps the data; Web Push has it alone.
  const data = message.data ?? message;
  const push = Nudge.parsePush(data);
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const isForeground = windows.some((window) => window.visibilityState === "visible");
  const { action, number } = await NudgeStore.change((state) => {
    const presenter = new Nudge.Presenter({
      ...state.presenter, userId: state.userId, isForeground, openConversationId: state.open });
    const badge = new Nudge.Badge(state.badge);
    const action = presenter.receive(push);
    const number = action.drop ? null : badge.received(push);
    const receipt = action.drop === "other_recipient" ? null : Nudge.receipt(push, state.deviceId, Date.now());
    if (receipt && !state.outbox.some((event) => event.eventId === receipt.eventId)) state.outbox.push(receipt);
    Object.assign(state, { presenter: { ...presenter }, badge: { ...badge } });
    return { action, number };
  });
  if (number !== null) await setBadge(number);
  if (action.present) await present(push, message, action.present, windows);
  if (action.presentCatchUp) await present(push, message, action.options, windows);
  if (action.removeUpTo) await removeUpTo(action.removeUpTo);
  if (action.removeCatchUp) await remove(action.removeCatchUp);
  if (action.remove) await remove(await Nudge.notificationId(push.conversationId, push.messageId));
}

/** In the foreground the page shows the banner; what is in the list is a notification. */
async function present(push, message, options, windows) {
  const shown = message.notification ?? message.data ?? message;
  if (options.includes("banner")) {
    for (const window of windows) {
      window.postMessage({ banner: { ...push, title: shown.title, body: shown.body, data: message.data ?? message } });
    }
  }
  if (!options.includes("list")) return;
  const isMessage = Nudge.isMessage(push);
  const tag = isMessage ? await Nudge.notificationId(push.conversationId, push.messageId) : push.pushId;
  await NudgeStore.expectClose(...await self.registration.getNotifications({ tag }));
  const language = self.navigator.language.split("-")[0];
  await self.registration.showNotification(shown.title ?? "", {
    body: shown.body, icon: shown.icon ?? shown.avatarUrl, image: shown.image ?? shown.imageUrl,
    tag,
    silent: !options.includes("sound"), renotify: options.includes("sound") && !push.replaces,
    timestamp: (push.timestamp ?? Date.now() / 1000) * 1000,
    actions: isMessage ? [{ action: MARK_READ, title: MARK_READ_TITLE[language] ?? "Mark Read" }] : [],
    data: { push: message.data ?? message, link: message.fcmOptions?.link ?? message.link },
  });
}

/**
 * Does what the page asks for. The page handles no notification itself: a push that is being shown would outlive the sign-out, and Chromium
 * forgets a notification that another context lists before it is displayed.
 */
async function asked({ opened, signedOut, notify }) {
  if (notify) await present(notify, { notification: notify, data: notify.data }, ["list"], []);
  if (!opened && !signedOut) return;
  const all = await self.registration.getNotifications();
  await NudgeStore.close(...all.filter(({ data }) => signedOut || data?.push?.conversationId === opened));
}

async function removeUpTo(mark) {
  const notifications = (await self.registration.getNotifications())
    .filter((notification) => notification.data?.push?.conversationId === mark.conversationId)
    .sort((a, b) => a.timestamp - b.timestamp);
  const isCovered = Nudge.covered(mark, notifications.map(({ data }) => ({
    messageId: data.push.messageId, time: data.push.timestamp === undefined ? null : Number(data.push.timestamp) })));
  await NudgeStore.close(...notifications.filter((_, index) => isCovered[index]));
}

async function remove(tag) {
  await NudgeStore.close(...await self.registration.getNotifications({ tag }));
}

const setBadge = async (number) => {
  if (self.navigator.setAppBadge) await self.navigator.setAppBadge(number).catch(() => {});
};

/** Publishes what a response says. Returns the plan. */
async function respond(response, notification) {
  const push = Nudge.parsePush(notification.data.push);
  const plan = await NudgeStore.change((state) => {
    const app = { userId: state.userId, deviceId: state.deviceId, makeId: () => crypto.randomUUID() };
    const plan = Nudge.plan(response, "", push, app, Date.now());
    if (plan.event) state.outbox.push(plan.event);
    if (response === "mark_read" && plan.event) {
      const presenter = new Nudge.Presenter(state.presenter);
      const badge = new Nudge.Badge(state.badge);
      presenter.conversationRead(Nudge.markOf(push));
      plan.badge = badge.read(Nudge.markOf(push));
      Object.assign(state, { presenter: { ...presenter }, badge: { ...badge } });
    }
    return plan;
  });
  if (plan.badge !== undefined) {
    await setBadge(plan.badge);
    await NudgeStore.inOrder(() => removeUpTo(Nudge.markOf(push)));
  }
  await NudgeStore.publish();
  return plan;
}

async function dismissed(notification) {
  if (await NudgeStore.isDismissed(notification)) await respond("dismiss", notification);
}

async function clicked(notification, action) {
  await NudgeStore.close(notification);
  if (action === MARK_READ) return respond("mark_read", notification);
  const { open } = await respond("open", notification);
  const [window] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (window) {
    window.postMessage({ open: open ?? null });
    return window.focus();
  }
  const query = open ? `?conversation=${encodeURIComponent(open.conversationId)}&message=${encodeURIComponent(open.messageId)}` : "";
  return self.clients.openWindow(notification.data.link ?? `./${query}`);
}
