// What happens inside the app, live: GET /v1/live with fetch, because EventSource sends no Authorization header.
// `token()` returns a user's token, a fresh one where the last has expired; `take(name, data)` gets each event, its data parsed;
// `changed(isLive)` learns whether the stream is open. Ends when `signal` does. Where `url` says answers=true, `take` returns true for a banner
// that it has shown, at once or later: it is answered, and its push is not sent to this device.
export async function live(url, { token, take, changed = () => {}, signal }) {
  let lastId = "", retry = 2000, failures = 0;
  while (!signal.aborted) {
    let pause;
    try {
      const headers = { Accept: "text/event-stream", Authorization: `Bearer ${await token()}` };
      if (lastId) headers["Last-Event-ID"] = lastId;
      const answer = await fetch(url, { headers, cache: "no-store", signal });
      if (answer.ok) {
        failures = 0;
        changed(true);
        await read(answer.body);
      } else {
        failures++;
        pause = Number(answer.headers.get("Retry-After")) * 1000;
      }
    } catch { failures++; }
    changed(false);
    if (signal.aborted) return;
    // Everybody whose stream ended comes back at a time of their own.
    pause = (pause || Math.min(60000, retry * 2 ** Math.min(failures, 5))) * (0.5 + Math.random());
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
    });
  }

  async function taken(data, name) {
    const address = new URL(url, globalThis.location?.href), deviceId = address.searchParams.get("deviceId");
    if (await take(name, data) !== true || !data.pushId || address.searchParams.get("answers") !== "true") return;
    const { userId, conversationId, messageId, pushId } = data;
    const event = {
      schemaVersion: 1, type: "notification.received", eventId: `shown.${pushId}.${deviceId}`.slice(0, 128), occurredAt: Date.now(),
      userId, deviceId, conversationId, messageId, pushId, banner: true };
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${await token()}` };
    // Where it does not arrive, the push comes.
    await fetch(new URL("events", address), { method: "POST", headers, body: JSON.stringify(event) }).catch(() => {});
  }

  async function read(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", name = "", data = [], id = lastId;
    // Comments come every 15 s: what is silent for longer is dead.
    const next = async () => {
      let timer;
      const silence = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("silent")), 45000); });
      try { return await Promise.race([reader.read(), silence]); } finally { clearTimeout(timer); }
    };
    try {
      for (let part = await next(); !part.done; part = await next()) {
        const lines = (text + part.value).split("\n");
        text = lines.pop();
        for (const line of lines) {
          const colon = line.indexOf(":");
          const field = colon < 0 ? line : line.slice(0, colon);
          const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (line === "") {
            lastId = id;
            if (data.length) taken(JSON.parse(data.join("\n")), name || "message");
            name = "";
            data = [];
          } else if (field === "event") name = value;
          else if (field === "data") data.push(value);
          else if (field === "id") id = value;
          else if (field === "retry") retry = Number(value) || retry;
        }
      }
    } finally { await reader.cancel().catch(() => {}); }
  }
}
