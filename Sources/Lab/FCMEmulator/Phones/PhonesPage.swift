/// The page with the phones: one HTML document without frameworks, build step or external resources. It inserts texts of pushes as
/// text, never as markup.
let phonesPage = #"""
  <!doctype html>
  <html lang="en">
  <head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Nudge · phones</title>
  <style>
    :root { color-scheme: dark; --ink: #f4f5fa; --dim: #a9aec2; --glass: rgba(255,255,255,.13); --line: rgba(255,255,255,.12);
      --accent: #7aa2ff; --red: #ff453a; --high: #ff9f43; }
    * { box-sizing: border-box; }
    body { margin: 0; font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink);
      background: #0e1018; min-height: 100vh; }
    header { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 8px 22px; align-items: center;
      padding: 12px 22px; background: rgba(14,16,24,.88); border-bottom: 1px solid var(--line); }
    h1 { margin: 0; font-size: 18px; letter-spacing: .2px; }
    h1 span { color: var(--accent); }
    .count { color: var(--dim); } .count b { color: var(--ink); font-variant-numeric: tabular-nums; }
    .state { margin-left: auto; color: var(--dim); } .state::before { content: "●"; margin-right: 6px; color: #35c759; }
    .state.off::before { color: var(--red); }
    input, select { background: #1a1d2a; color: var(--ink); border: 1px solid var(--line); border-radius: 8px; padding: 5px 9px; font: inherit; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(236px, 1fr)); gap: 22px; padding: 22px; }
    .empty { grid-column: 1 / -1; color: var(--dim); text-align: center; padding: 80px 0; }
    .phone { position: relative; height: 430px; border-radius: 34px; border: 5px solid #272b3a; overflow: hidden; display: flex;
      flex-direction: column; background: linear-gradient(165deg, hsl(var(--hue) 45% 34%), hsl(calc(var(--hue) + 50) 50% 14%));
      box-shadow: 0 10px 26px rgba(0,0,0,.45); }
    .phone.rang { animation: ring .5s ease; border-color: var(--high); }
    @keyframes ring { 20% { transform: rotate(-1.4deg) } 50% { transform: rotate(1.2deg) } 80% { transform: rotate(-.6deg) } }
    @media (prefers-reduced-motion: reduce) { .phone.rang { animation: none } }
    .top { text-align: center; padding: 14px 14px 8px; }
    .top .who { font-weight: 600; font-size: 16px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .top .what { color: rgba(255,255,255,.72); font-size: 12px; }
    .list { flex: 1; overflow-y: auto; padding: 2px 10px 8px; scrollbar-width: thin; }
    .thread { margin-bottom: 7px; }
    .note { display: block; width: 100%; text-align: left; color: inherit; font: inherit; border: 0; cursor: pointer; margin-bottom: 3px;
      padding: 8px 11px; border-radius: 14px; background: var(--glass); }
    .note:hover, .note:focus-visible { background: rgba(255,255,255,.22); outline: none; }
    .note.silent { background: rgba(255,255,255,.07); color: rgba(255,255,255,.82); }
    .note .head { display: flex; gap: 6px; align-items: baseline; }
    .note .title { font-weight: 600; flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .note .when { font-size: 11px; color: rgba(255,255,255,.6); white-space: nowrap; }
    .note .body { overflow: hidden; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow-wrap: anywhere; }
    .note .marks { font-size: 11px; color: rgba(255,255,255,.65); }
    .more { font-size: 12px; color: rgba(255,255,255,.65); padding: 0 11px; }
    .quiet { color: rgba(255,255,255,.55); text-align: center; padding-top: 60px; }
    .dock { display: flex; align-items: center; gap: 12px; padding: 9px 16px 13px; background: rgba(0,0,0,.2); font-size: 12px; color: rgba(255,255,255,.72); }
    .icon { position: relative; width: 34px; height: 34px; border-radius: 9px; background: linear-gradient(140deg, #8fb3ff, #4a6cf0);
      display: grid; place-items: center; font-size: 18px; }
    .badge { position: absolute; top: -7px; right: -9px; min-width: 19px; height: 19px; padding: 0 5px; border-radius: 10px; background: var(--red);
      color: #fff; font: 600 12px/19px system-ui, sans-serif; text-align: center; }
    dialog { width: min(620px, 94vw); max-height: 86vh; overflow: auto; border: 1px solid var(--line); border-radius: 18px; background: #171a26; color: var(--ink); padding: 22px 24px; }
    dialog::backdrop { background: rgba(5,6,10,.66); }
    dialog h2 { margin: 0 0 2px; font-size: 17px; } dialog .sub { color: var(--dim); margin-bottom: 14px; overflow-wrap: anywhere; }
    dialog .why { font-size: 16px; padding: 12px 14px; border-radius: 12px; background: rgba(122,162,255,.14); margin-bottom: 14px; }
    table { width: 100%; border-collapse: collapse; margin-bottom: 12px; } th { text-align: left; color: var(--dim); font-weight: 500; padding: 4px 0; }
    td { padding: 4px 8px 4px 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
    td.ok { color: #35c759; width: 24px; } td.no { color: var(--red); width: 24px; } td.in { color: var(--dim); }
    .close { float: right; background: none; border: 0; color: var(--dim); font-size: 20px; cursor: pointer; }
  </style>
  </head>
  <body>
  <header>
    <h1><span>Nudge</span> phones</h1>
    <span class="count"><b id="phones">0</b> phones</span>
    <span class="count"><b id="pushes">0</b> pushes</span>
    <span class="count"><b id="sounds">0</b> sounds</span>
    <input id="filter" type="search" placeholder="Whose phone…" aria-label="Show only phones of">
    <select id="order" aria-label="Order"><option value="entries">Most notifications</option><option value="number">In order of arrival</option></select>
    <span class="state" id="state">live</span>
  </header>
  <main id="main"><p class="empty" id="empty">No push has come yet. Each device that gets one appears here with its lock screen.</p></main>
  <dialog id="dialog" aria-labelledby="d-title"><button class="close" aria-label="Close">×</button><h2 id="d-title"></h2><div class="sub" id="d-sub"></div><div id="d-body"></div></dialog>
  <script>
  "use strict";
  const by = id => document.getElementById(id);
  const phones = new Map();
  const empty = by("empty");
  let version = 0;
  const make = (tag, name, text) => { const e = document.createElement(tag); if (name) e.className = name; if (text !== undefined) e.textContent = text; return e; };
  const clock = at => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const presentations = { alert: "🔔 alert, with a sound", silent: "🔕 silent, in the list" };
  const systems = { ios: "iOS", android: "Android", web: "Web" };
  const hue = text => { let h = 0; for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360; return h; };

  function card(view) {
    let phone = phones.get(view.number);
    if (!phone) {
      const el = make("section", "phone");
      phone = { el, view };
      phones.set(view.number, phone);
      by("main").append(el);
      el.addEventListener("animationend", () => el.classList.remove("rang"));
    } else if (view.sounds > phone.view.sounds) {
      phone.el.classList.remove("rang"); void phone.el.offsetWidth; phone.el.classList.add("rang");
    }
    phone.view = view;
    draw(phone);
  }

  function draw({ el, view }) {
    el.style.setProperty("--hue", hue(view.owner));
    el.dataset.number = view.number;
    el.setAttribute("aria-label", `Phone ${view.number} of ${view.owner}`);
    const top = make("div", "top");
    top.append(make("div", "who", view.owner), make("div", "what", `${systems[view.platform]} · phone ${view.number}`));
    const list = make("div", "list");
    const threads = new Map();
    for (const entry of view.entries) (threads.get(entry.thread) ?? threads.set(entry.thread, []).get(entry.thread)).push(entry);
    for (const entries of threads.values()) {
      const group = make("div", "thread");
      for (const entry of entries.slice(0, 3)) group.append(note(entry, view));
      if (entries.length > 3) group.append(make("div", "more", `${entries.length - 3} more in this conversation`));
      list.append(group);
    }
    if (!view.entries.length) list.append(make("div", "quiet", "nothing on the lock screen"));
    const dock = make("div", "dock"), icon = make("div", "icon", "💬");
    if (view.badge > 0) icon.append(make("span", "badge", view.badge > 999 ? "999+" : String(view.badge)));
    dock.append(icon, make("span", "", `${view.pushes} ${view.pushes === 1 ? "push" : "pushes"}: 🔔 ${view.sounds} · 🔕 ${view.silentPushes} · badge only ${view.badgePushes}${view.dropped ? ` · dropped ${view.dropped}: the system shows 50` : ""}`));
    el.replaceChildren(top, list, dock);
  }

  function note(entry, view) {
    const el = make("button", `note ${entry.presentation}`);
    const head = make("div", "head");
    head.append(make("span", "title", entry.title || "(no title)"), make("span", "when", clock(entry.at)));
    el.append(head, make("div", "body", entry.body));
    const marks = [presentations[entry.presentation] ?? entry.presentation];
    if (entry.hasPicture) marks.push("🖼 picture");
    if (entry.replaced) marks.push(`↻ replaced ${entry.replaced}×`);
    el.append(make("div", "marks", marks.join(" · ")));
    el.addEventListener("click", () => why(entry, view));
    return el;
  }

  async function why(entry, view) {
    by("d-title").textContent = entry.title || "(no title)";
    by("d-sub").textContent = `to ${view.owner} on phone ${view.number} (${systems[view.platform]}) at ${clock(entry.at)} · push ${entry.pushId}`;
    by("d-body").replaceChildren(make("p", "", "Asking why…"));
    if (!by("dialog").open) by("dialog").showModal();
    try {
      const response = await fetch(`decisions/${encodeURIComponent(entry.pushId)}`);
      const answer = await response.json();
      by("d-body").replaceChildren(...(response.ok ? reasons(answer) : [make("p", "", answer.message)]));
    } catch (error) {
      by("d-body").replaceChildren(make("p", "", `The emulator does not answer: ${error}`));
    }
  }

  function reasons(decision) {
    const parts = [make("div", "why", decision.text || decision.reason)];
    const facts = [`reason ${decision.reason}`];
    if (decision.presentation) facts.push(`presentation ${decision.presentation}`);
    if (decision.level) facts.push(`level ${decision.level}`);
    if (decision.priority) facts.push(`priority ${decision.priority}`);
    if (typeof decision.score === "number") facts.push(`score ${decision.score.toFixed(2)}`);
    if (decision.analysis) facts.push(`analysis ${decision.analysis.used} of ${decision.analysis.limit} this hour`);
    parts.push(make("p", "sub", facts.join(" · ")));
    const checks = table("What was checked, in order");
    for (const check of decision.checks ?? []) {
      const whole = typeof check === "string" ? { check } : check;
      const inputs = Object.entries(whole.inputs ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
      const passed = whole.result !== "suppress";
      row(checks, [passed ? "✓" : "✗", passed ? "ok" : "no"], [String(whole.check).replaceAll("_", " ")], [inputs, "in"]);
    }
    parts.push(checks);
    if (decision.signals?.length) {
      const signals = table("What made the score");
      for (const signal of decision.signals) row(signals, [String(signal.name).replaceAll("_", " ")], [String(signal.value)], [`weight ${signal.weight}`, "in"]);
      parts.push(signals);
    }
    return parts;
  }
  function table(title) { const t = make("table"), tr = make("tr"), th = make("th", "", title); th.colSpan = 3; tr.append(th); t.append(tr); return t; }
  function row(t, ...cells) { const tr = make("tr"); for (const [text, name] of cells) tr.append(make("td", name, text)); t.append(tr); }

  let arrangedAt = 0;
  function arrange() {
    arrangedAt = Date.now();
    const wanted = by("filter").value.trim().toLowerCase(), most = by("order").value === "entries";
    const all = [...phones.values()].sort((a, b) => most ? b.view.entries.length - a.view.entries.length || a.view.number - b.view.number : a.view.number - b.view.number);
    all.forEach((phone, index) => {
      phone.el.hidden = wanted !== "" && !phone.view.owner.toLowerCase().includes(wanted);
      phone.el.style.display = phone.el.hidden ? "none" : "";
      phone.el.style.order = index;
    });
  }

  async function follow() {
    for (;;) {
      try {
        const response = await fetch(`phones?after=${version}`);
        if (!response.ok) throw new Error(response.status);
        const changes = await response.json();
        // A smaller version means a new emulator.
        if (changes.version < version) { phones.clear(); by("main").replaceChildren(empty); }
        version = changes.version;
        changes.phones.forEach(card);
        if (phones.size) empty.remove();
        // Phones that keep moving cannot be read.
        if (Date.now() - arrangedAt > 3000) arrange();
        by("phones").textContent = changes.phoneCount;
        by("pushes").textContent = changes.pushes;
        by("sounds").textContent = [...phones.values()].reduce((sum, phone) => sum + phone.view.sounds, 0);
        by("state").textContent = "live"; by("state").classList.remove("off");
        // Nobody sees faster changes.
        await new Promise(done => setTimeout(done, 300));
      } catch {
        by("state").textContent = "the emulator has ended"; by("state").classList.add("off");
        await new Promise(done => setTimeout(done, 2000));
      }
    }
  }
  by("filter").addEventListener("input", arrange);
  by("order").addEventListener("change", arrange);
  document.querySelector(".close").addEventListener("click", () => by("dialog").close());
  by("dialog").addEventListener("click", event => { if (event.target === by("dialog")) by("dialog").close(); });
  follow();
  </script>
  </body>
  </html>

  """#
