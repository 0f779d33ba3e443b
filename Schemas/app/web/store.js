// What page and service worker share, in IndexedDB: the account, the presenter's and the badge's state, and events that are not accepted
// yet. Changes go one after the other, also those of several pushes at once.
(() => {
  "use strict";
  /** Events that wait at most: the oldest ones go where the services cannot be reached for long. */
  const longest = 500;

  // Opening it takes longer than a transaction, so it stays open.
  let database = null;
  const open = () => database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("nudge", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("state");
    request.onsuccess = () => {
      request.result.onversionchange = request.result.onclose = () => {
        request.result.close();
        database = null;
      };
      resolve(request.result);
    };
    request.onerror = () => {
      database = null;
      reject(request.error);
    };
  });

  /** Applies a synchronous change to the state, which it may mutate, in one transaction. Returns what the change returns. */
  async function change(apply) {
    const opened = await open();
    return new Promise((resolve, reject) => {
      const transaction = opened.transaction("state", "readwrite");
      const store = transaction.objectStore("state");
      let result;
      const request = store.get("app");
      request.onsuccess = () => {
        const state = request.result ?? { userId: null, deviceId: null, jwt: null, presenter: {}, badge: {}, outbox: [], open: null };
        result = apply(state);
        state.outbox = state.outbox.slice(-longest);
        store.put(state, "app");
      };
      transaction.oncomplete = () => resolve(result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  }

  /** A queue: each piece of work begins once the one before has ended, even by an error. */
  function queue() {
    let last = Promise.resolve();
    return (work) => {
      last = last.then(work, work);
      return last;
    };
  }

  const requests = queue();

  /** Publishes what waits, together, one request after the other. Events stay until the services have answered: a second time has no effect. */
  const publish = () => requests(send);

  async function send() {
    const { events, jwt } = await change((state) => ({ events: state.outbox.slice(0, 100), jwt: state.jwt }));
    if (events.length === 0 || !jwt) return;
    const answer = await fetch("/v1/events", {
      method: "POST", headers: { "Content-Type": "application/json", "Authorization": `Bearer ${jwt}` }, body: JSON.stringify(events),
      keepalive: true,
    }).catch(() => null);
    // 400: they would be refused again.
    if (!answer || ![202, 207, 400].includes(answer.status)) return;
    const sent = new Set(events.map((event) => event.eventId));
    await change((state) => { state.outbox = state.outbox.filter((event) => !sent.has(event.eventId)); });
  }

  const pushId = ({ data }) => (data?.push ?? data)?.pushId;

  /** Takes notifications away that the person did not dismiss. Some browsers (Firefox) say `notificationclose` then, too. */
  async function close(...notifications) {
    await expectClose(...notifications);
    for (const notification of notifications) notification.close();
  }

  /** The same for those that others take the place of. All are noted in one transaction. */
  const expectClose = async (...notifications) => notifications.length > 0 && change((state) => {
    state.closed = [...state.closed ?? [], ...notifications.map(pushId)].slice(-1024);
  });

  /** Whether the person dismissed a notification that has closed. */
  const isDismissed = (notification) => change((state) => {
    const isOurs = state.closed?.includes(pushId(notification)) ?? false;
    if (isOurs) state.closed = state.closed.filter((id) => id !== pushId(notification));
    return !isOurs;
  });

  /** Whether the signed-in user has neither a push nor the banner of its message yet. From now on they have; one without an id is always new. */
  const isNew = (userId, id) => change((state) => {
    if (userId !== state.userId || id && state.seen?.includes(id)) return false;
    if (id) state.seen = [...state.seen ?? [], id].slice(-256);
    return true;
  });

  /** Handles pushes one after the other, in the order of the calls. Returns what the work returns. */
  const inOrder = queue();

  globalThis.NudgeStore = { change, publish, close, expectClose, isDismissed, isNew, inOrder };
})();
