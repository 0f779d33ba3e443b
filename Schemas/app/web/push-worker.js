// A whole service worker for Web Push, without Firebase. It needs store.js beside it, where the page keeps userId, deviceId and jwt.
importScripts("store.js");
const MARK_READ = "MARK_READ_ACTION";
const at = ({ sentAt, timestamp }) => Number(sentAt ?? timestamp * 1000);
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(receive(event.data?.json() ?? event.notification.data)));
self.addEventListener("notificationclick", (event) => event.waitUntil(clicked(event.notification, event.action)));
self.addEventListener("notificationclose", (event) => event.waitUntil(dismissed(event.notification)));
const dismissed = async (shown) => await NudgeStore.isDismissed(shown) && report("notification.dismissed", shown.data);
const receive = async (push) => await NudgeStore.inOrder(() => show(push)) && report("notification.received", push);

async function show(push) {
  const isMessage = ["new_message", "smart_notification"].includes(push.type);
  // Somebody else has signed in on this browser, the push came twice, or the page has shown its banner.
  if (!await NudgeStore.isNew(push.recipientId, isMessage && push.pushId)) return false;
  if (push.badge !== undefined && navigator.setAppBadge) await navigator.setAppBadge(Number(push.badge)).catch(() => {});
  const hasEnded = push.type === "deleted" || push.type === "digest" && push.messages === "0";
  const all = await self.registration.getNotifications();
  const isHere = ({ data }) => data?.conversationId === push.conversationId;
  // Of the messages of the same millisecond those are read that were shown before the last one.
  const last = all.find((shown) => isHere(shown) && shown.data.messageId === push.messageId)?.data.shownAt ?? 0;
  const isRead = (it) => !push.messageId || it.messageId === push.messageId || at(it) < at(push) || at(it) === at(push) && it.shownAt < last;
  const goes = (shown) => push.type === "read" && isHere(shown) && isRead(shown.data) || hasEnded && shown.tag === push.tag;
  await NudgeStore.close(...all.filter(goes));
  const former = all.filter((shown) => shown.tag === push.tag && !goes(shown));
  // Its edit came first: pushes may overtake each other on their way.
  if (push.replaces !== "true" && former.some(({ data }) => data.replaces === "true")) return true;
  await NudgeStore.expectClose(...former);
  if (push.title === undefined || push.presentation === "badge" || hasEnded) return false;
  await self.registration.showNotification(push.title, {
    body: push.body, tag: push.tag, icon: push.avatarUrl, image: push.imageUrl, data: { ...push, shownAt: Date.now() },
    silent: push.presentation !== "alert", renotify: push.presentation === "alert" && push.replaces !== "true",
    timestamp: at(push) || Date.now(), actions: isMessage ? [{ action: MARK_READ, title: "Mark Read" }] : [],
  });
  // After a sign-out meanwhile it goes. The page could not close what was not shown yet.
  return await NudgeStore.isNew(push.recipientId) || NudgeStore.close(...await self.registration.getNotifications({ tag: push.tag }));
}

async function clicked(notification, action, push = notification.data) {
  await NudgeStore.close(notification);
  if (action === MARK_READ) return report("message.read", push);
  await report("notification.opened", push);
  const [window] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!window) return self.clients.openWindow(push.link ?? `./?${new URLSearchParams({ conversation: push.conversationId ?? "" })}`);
  window.postMessage({ open: push.conversationId ? { conversationId: push.conversationId, messageId: push.messageId } : null });
  return window.focus();
}

/** Events stay in the store until the services have them. Only messages are reported. */
async function report(type, { conversationId, messageId, pushId, timestamp }) {
  await NudgeStore.change(({ userId, deviceId, outbox }) => {
    const report = type === "message.read" ? {} : { pushId, sentAt: Number(timestamp) * 1000 };
    const event = { schemaVersion: 1, type, eventId: crypto.randomUUID(), occurredAt: Date.now() };
    if (userId && messageId) outbox.push({ ...event, userId, deviceId, conversationId, messageId, ...report });
  });
  await NudgeStore.publish();
}
