// Runs the vectors of Schemas/app against nudge.js. A test of your own app is a page or a script with these few lines.
(() => {
  "use strict";
  const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
  const sorted = (value) =>
    Array.isArray(value) ? value.map(sorted)
    : value && typeof value === "object" ? Object.fromEntries(Object.keys(value).sort().map((k) => [k, sorted(value[k])]))
    : value;
  const counting = () => { let count = 0; return () => `id${++count}`; };

  const runners = {
    presentation(test) {
      const presenter = new Nudge.Presenter(test.state);
      return test.steps.map((step) => {
        if (step.push) {
          try {
            return presenter.receive(Nudge.parsePush(step.push));
          } catch (error) {
            if (!(error instanceof Nudge.PushError)) throw error;
            return { error: error.message };
          }
        }
        if (step.banner) return { admit: presenter.admits(step.banner) };
        if ("user" in step) presenter.userChanged(step.user);
        if ("foreground" in step) presenter.isForeground = step.foreground;
        if ("open" in step) presenter.openConversationId = step.open;
        if ("live" in step) presenter.hasLiveChannel = step.live;
        if (step.read) presenter.conversationRead(step.read);
        return undefined;
      });
    },
    badge(test) {
      const badge = new Nudge.Badge({ mode: test.mode });
      return test.steps.map((step) => {
        if (step.push) return badge.received(Nudge.parsePush(step.push));
        if ("launched" in step) return badge.launched(step.launched, step.delivered.map(Nudge.parsePush));
        if (step.opened) return badge.opened(step.opened);
        if (step.read) return badge.read(step.read);
        return step.closed ? badge.closed() : badge.signedOut();
      });
    },
    banners(test) {
      const queue = new Nudge.BannerQueue();
      return test.steps.map((step) => {
        if (step.banner) return queue.receive(step.banner, step.at);
        if (step.time) return queue.timeReached(step.at);
        if (step.touch) return queue.touchBegan(step.at);
        if ("lift" in step) return queue.touchEnded(step.lift, step.at);
        if (step.tap) return queue.tapped(step.at);
        if (step.dismiss) return queue.dismissed(step.at);
        return step.open ? queue.conversationOpened(step.open, step.at) : queue.enteredBackground();
      });
    },
    links(test) {
      const result = {};
      try { result.conversationId = Nudge.parseLink(test.link, test.scheme); } catch (error) { result.error = error.message; }
      if (test.text) result.text = Nudge.linkText(test.conversationId, test.scheme);
      const { link, scheme, ...expected } = test;
      return [[result, expected]];
    },
    actions(test) {
      const app = { userId: test.userId, deviceId: "d1", makeId: counting() };
      const plan = Nudge.plan(test.response, test.text, Nudge.parsePush(test.push), app, 1763712060000);
      if (plan.event) {
        const { schemaVersion, eventId, ...fields } = plan.event;
        if (fields.type === "message.created") delete fields.messageId;
        plan.event = fields;
        if (schemaVersion !== 1 || !eventId) return [[{ schemaVersion, eventId }, "an envelope"]];
      }
      return [[plan, test.expect]];
    },
    "sign-out"(test) {
      const signOut = new Nudge.SignOut("d1", counting());
      const named = (action) =>
        action.publish ? { publish: action.publish.eventId }
        : action.keep ? { keep: { ...action.keep, events: action.keep.events.map((event) => event.eventId) } }
        : action;
      return test.steps.map((step) => {
        if (step.begin) return signOut.begin(step.begin, step.at);
        if (step.finished) return signOut.finished(step.finished, step.succeeded);
        if ("tokenDeleted" in step) return signOut.tokenDeleted(step.tokenDeleted);
        if (step.time) return signOut.timeReached(step.at);
        return step.retry ? signOut.retry(step.at) : signOut.signedIn();
      }).map((actions) => actions.map(named));
    },
  };

  /** Runs a file's cases, `name` without .json. Returns how many steps were compared, and what differs, in words. */
  globalThis.runVectors = (name, { cases }) => {
    let count = 0;
    const differences = [];
    for (const test of cases) {
      const results = runners[name](test);
      const pairs = test.steps
        ? test.steps.map((step, index) => [results[index], step.expect]).filter(([, expected]) => expected !== undefined)
        : results;
      for (const [result, expected] of pairs) {
        count += 1;
        if (!same(result, expected)) {
          differences.push(`${test.name ?? test.link}: ${JSON.stringify(result)} is not ${JSON.stringify(expected)}`);
        }
      }
    }
    return { count, differences };
  };

  /** The same for notification-ids.json. */
  globalThis.runNotificationIds = async ({ ids }) => {
    const differences = [];
    for (const { conversationId, messageId, id } of ids) {
      const made = await Nudge.notificationId(conversationId, messageId);
      if (made !== id) differences.push(`${conversationId}, ${messageId}: ${made} is not ${id}`);
    }
    return { count: ids.length, differences };
  };
})();
