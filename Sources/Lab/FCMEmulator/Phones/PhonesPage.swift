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
    :root { color-scheme: light dark; --ink: #171a26; --dim: #5b6178; --page: #f3f4f8; --card: #fff; --frame: #d3d7e2; --bar: rgba(243,244,248,.92);
      --line: rgba(20,24,40,.16); --accent: #2f5fd8; --why: rgba(47,95,216,.1); --red: #c9302c; --green: #1d7f3c; --high: #d9741a; }
    @media (prefers-color-scheme: dark) { :root { --ink: #f4f5fa; --dim: #a9aec2; --page: #0e1018; --card: #171a26; --frame: #272b3a;
      --bar: rgba(14,16,24,.88); --line: rgba(255,255,255,.14); --accent: #7aa2ff; --why: rgba(122,162,255,.14); --red: #ff6961; --green: #35c759; --high: #ff9f43; } }
    * { box-sizing: border-box; }
    body { margin: 0; font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink);
      background: var(--page); min-height: 100vh; }
    header { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 8px 22px; align-items: center;
      padding: 12px 22px; background: var(--bar); border-bottom: 1px solid var(--line); }
    h1 { margin: 0; font-size: 18px; letter-spacing: .2px; }
    h1 span { color: var(--accent); }
    .count { color: var(--dim); } .count b { color: var(--ink); font-variant-numeric: tabular-nums; }
    .state { margin-left: auto; color: var(--dim); } .state::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 50%;
      margin-right: 6px; background: var(--green); }
    .state.off::before { background: var(--red); }
    input, select { background: var(--card); color: var(--ink); border: 1px solid var(--line); border-radius: 8px; padding: 5px 9px; font: inherit; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(236px, 1fr)); gap: 22px; padding: 22px; }
    .empty { grid-column: 1 / -1; color: var(--dim); text-align: center; padding: 80px 0; }
    .phone { position: relative; height: 430px; border-radius: 34px; border: 5px solid var(--frame); color: #f4f5fa; overflow: hidden; display: flex;
      flex-direction: column; background: linear-gradient(165deg, hsl(var(--hue) 45% 34%), hsl(calc(var(--hue) + 50) 50% 14%));
      box-shadow: 0 8px 22px rgba(0,0,0,.3); }
    [hidden] { display: none !important; }
    svg { width: 1em; height: 1em; vertical-align: -.14em; margin-right: 3px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round;
      stroke-linejoin: round; }
    .phone.rang { animation: ring .5s ease; border-color: var(--high); }
    @keyframes ring { 20% { transform: rotate(-1.4deg) } 50% { transform: rotate(1.2deg) } 80% { transform: rotate(-.6deg) } }
    @media (prefers-reduced-motion: reduce) { .phone.rang { animation: none } }
    .top { text-align: center; padding: 14px 14px 8px; }
    .top .who { font-weight: 600; font-size: 16px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .top .what { color: rgba(255,255,255,.72); font-size: 12px; }
    .list { flex: 1; overflow-y: auto; padding: 2px 10px 8px; scrollbar-width: thin; }
    .thread { margin-bottom: 7px; }
    .note { display: block; width: 100%; text-align: left; color: inherit; font: inherit; border: 0; cursor: pointer; margin-bottom: 3px;
      padding: 8px 11px; border-radius: 14px; background: rgba(255,255,255,.15); }
    .note:hover { background: rgba(255,255,255,.22); } .note:focus-visible { background: rgba(255,255,255,.24); outline: 2px solid #fff; outline-offset: -2px; }
    .note.silent { background: rgba(255,255,255,.07); color: rgba(255,255,255,.82); }
    .note .head { display: flex; gap: 6px; align-items: baseline; }
    .note .title { font-weight: 600; flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .note .when { font-size: 11px; color: rgba(255,255,255,.6); white-space: nowrap; }
    .note .body { overflow: hidden; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow-wrap: anywhere; }
    .note .marks { font-size: 11px; color: rgba(255,255,255,.65); }
    .more { font-size: 12px; color: rgba(255,255,255,.65); padding: 0 11px; }
    .quiet { color: rgba(255,255,255,.55); text-align: center; padding-top: 60px; }
    .dock { display: flex; align-items: center; gap: 12px; padding: 9px 16px 13px; background: rgba(0,0,0,.2); font-size: 12px; color: rgba(255,255,255,.72); }
    .icon { position: relative; flex: none; width: 34px; height: 34px; border-radius: 9px; background: linear-gradient(140deg, #6f95f5, #3c5bd8);
      display: grid; place-items: center; font-size: 20px; color: #fff; } .icon svg { margin: 0; }
    .badge { position: absolute; top: -7px; right: -9px; min-width: 19px; height: 19px; padding: 0 5px; border-radius: 10px; background: #d0342c;
      color: #fff; font: 600 12px/19px system-ui, sans-serif; text-align: center; }
    dialog { width: min(620px, 94vw); max-height: 86vh; overflow: auto; border: 1px solid var(--line); border-radius: 18px; background: var(--card); color: var(--ink); padding: 22px 24px; }
    dialog::backdrop { background: rgba(5,6,10,.66); }
    dialog h2 { margin: 0 0 2px; font-size: 17px; } dialog .sub { color: var(--dim); margin-bottom: 14px; overflow-wrap: anywhere; }
    dialog .why { font-size: 16px; padding: 12px 14px; border-radius: 12px; background: var(--why); margin-bottom: 14px; }
    table { width: 100%; border-collapse: collapse; margin-bottom: 12px; } th { text-align: left; color: var(--dim); font-weight: 500; padding: 4px 0; }
    td { padding: 4px 8px 4px 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
    td.ok { color: var(--green); width: 24px; } td.no { color: var(--red); width: 24px; } td svg { margin: 0; } td.in { color: var(--dim); }
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
    <span class="state" id="state" role="status">live</span>
  </header>
  <main id="main"><p class="empty" id="empty">No push has come yet. Each device that gets one appears here with its lock screen.</p><p class="empty" id="nobody" role="status" hidden></p></main>
  <template id="drawing"><svg viewBox="0 0 16 16"><path /></svg></template>
  <dialog id="dialog" aria-labelledby="d-title"><button class="close" aria-label="Close"></button><h2 id="d-title"></h2><div class="sub" id="d-sub"></div><div id="d-body"></div></dialog>
  <script>
  "use strict";
  const by = id => document.getElementById(id);
  const phones = new Map();
  const empty = by("empty");
  let version = 0;
  const make = (tag, name, text) => { const e = document.createElement(tag); if (name) e.className = name; if (text !== undefined) e.textContent = text; return e; };
  /** Drawn, so that they need no font. */
  const paths = {
    bell: "M8 2a4 4 0 0 0-4 4c0 4-1.5 5-1.5 5h11S12 10 12 6a4 4 0 0 0-4-4ZM6.5 13.5a1.6 1.6 0 0 0 3 0", mute: "M4.2 4.8A4 4 0 0 0 4 6c0 4-1.5 5-1.5 5H10M6.3 2.4A4 4 0 0 1 12 6c0 1.2.2 2.1.5 2.9M6.5 13.5a1.6 1.6 0 0 0 3 0M2 2l12 12",
    picture: "M2 3h12v10H2zM2 11l3.5-3.5 3 3 2-2L14 12M10.5 6h.01", again: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3", yes: "M3 8.5l3.5 3.5L13 4.5", no: "M4 4l8 8M12 4l-8 8",
    bubble: "M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z",
  };
  const icon = (name, label) => {
    const drawing = by("drawing").content.firstElementChild.cloneNode(true);
    if (label) { drawing.setAttribute("role", "img"); drawing.setAttribute("aria-label", label); } else drawing.setAttribute("aria-hidden", "true");
    drawing.firstElementChild.setAttribute("d", paths[name]);
    return drawing;
  };
  const clock = at => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const presentations = { alert: ["bell", "alert, with a sound"], silent: ["mute", "silent, in the list"] };
  const systems = { ios: "iOS", android: "Android", web: "Web" };
  const hue = text => { let h = 0; for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360; return h; };

  function card(view) {
    let phone = phones.get(view.number);
    if (!phone) {
      const el = make("section", "phone");
      phone = { el, view };
      phones.set(view.number, phone);
      el.append(make("div", "top"), make("div", "list"), make("div", "dock"));
      el.style.order = phones.size;
      by("main").append(el);
      el.addEventListener("animationend", () => el.classList.remove("rang"));
    } else if (view.sounds > phone.view.sounds) {
      phone.el.classList.remove("rang"); void phone.el.offsetWidth; phone.el.classList.add("rang");
    }
    phone.view = view;
    draw(phone);
  }

  /** Makes the children of an element those that are wanted. One that stays keeps its place, and the focus stays with it. */
  function align(parent, wanted) {
    const focused = parent.contains(document.activeElement) ? document.activeElement : null;
    const tag = focused?.dataset.tag;
    const stay = new Set(wanted);
    for (const child of [...parent.children]) if (!stay.has(child)) child.remove();
    let next = parent.firstElementChild;
    for (const child of wanted) if (child === next) next = next.nextElementSibling; else parent.insertBefore(child, next);
    if (!focused || document.activeElement === focused) return;
    // Its notification was replaced, or moved with its conversation.
    const heir = focused.isConnected ? focused : [...parent.querySelectorAll("[data-tag]")].find(note => note.dataset.tag === tag);
    heir?.focus({ preventScroll: true });
  }

  function draw({ el, view }) {
    const [top, list, dock] = el.children;
    el.style.setProperty("--hue", hue(view.owner));
    el.dataset.number = view.number;
    el.setAttribute("aria-label", `Phone ${view.number} of ${view.owner}`);
    top.replaceChildren(make("div", "who", view.owner), make("div", "what", `${systems[view.platform]}${view.appDraws ? ", drawn by the app" : ""} · phone ${view.number}`));
    const known = new Map([...list.querySelectorAll("[data-key]")].map(element => [element.dataset.key, element]));
    const kept = (key, fresh) => { const element = known.get(key) ?? fresh(); element.dataset.key = key; return element; };
    const threads = new Map();
    for (const entry of view.entries) (threads.get(entry.thread) ?? threads.set(entry.thread, []).get(entry.thread)).push(entry);
    const groups = [...threads].map(([thread, entries]) => {
      const group = kept(`thread ${thread}`, () => make("div", "thread"));
      const notes = entries.slice(0, 3).map(entry => kept(`note ${entry.pushId} ${entry.tag} ${entry.replaced}`, () => note(entry, view)));
      if (entries.length > 3) {
        const more = kept(`more ${thread}`, () => make("div", "more"));
        more.textContent = `${entries.length - 3} more in this conversation`;
        notes.push(more);
      }
      return { group, notes };
    });
    align(list, groups.length ? groups.map(({ group }) => group) : [kept("quiet", () => make("div", "quiet", "nothing on the lock screen"))]);
    for (const { group, notes } of groups) align(group, notes);
    const app = make("div", "icon");
    app.append(icon("bubble"));
    if (view.badge > 0) app.append(make("span", "badge", view.badge > 999 ? "999+" : String(view.badge)));
    const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;
    // Every push is one of these.
    const parts = [[view.sounds, "with a sound"], [view.silentPushes, "silent"], [view.badgePushes, "badge only"], [view.removals, "read or deleted"], [view.dropped, "dropped: the system shows 50"]];
    dock.replaceChildren(app, make("span", "sum", `${count(view.pushes, "push", "pushes")}: ${parts.filter(([number]) => number).map(([number, what]) => `${number} ${what}`).join(" · ")}`));
  }

  function note(entry, view) {
    const el = make("button", `note ${entry.presentation}`);
    el.dataset.tag = entry.tag;
    const head = make("div", "head");
    head.append(make("span", "title", entry.title || "(no title)"), make("span", "when", clock(entry.at)));
    el.append(head, make("div", "body", entry.body));
    const [sign, words] = presentations[entry.presentation] ?? ["mute", entry.presentation];
    const marks = make("div", "marks");
    marks.append(icon(sign), words);
    if (entry.hasPicture) marks.append(" · ", icon("picture"), "picture");
    if (entry.replaced) marks.append(" · ", icon("again"), `replaced ${entry.replaced === 1 ? "once" : `${entry.replaced} times`}`);
    el.append(marks);
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
    // A file of decisions that no console has seen has the inputs alone.
    const words = decision.words?.checks ?? (decision.checks ?? []).map(check => ({
      name: check.check ?? check, suppresses: check.result === "suppress",
      text: Object.entries(check.inputs ?? {}).map(([name, value]) => `${name} ${value}`).join(", ") }));
    for (const check of words) {
      row(checks, [icon(check.suppresses ? "no" : "yes", check.suppresses ? "suppresses" : "passes"), check.suppresses ? "no" : "ok"],
        [String(check.name).replaceAll("_", " ")], [check.text, "in"]);
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
  function row(t, ...cells) { const tr = make("tr"); for (const [text, name] of cells) { const td = make("td", name); td.append(text); tr.append(td); } t.append(tr); }

  let arrangedAt = 0;
  function arrange() {
    arrangedAt = Date.now();
    const most = by("order").value === "entries";
    const all = [...phones.values()].sort((a, b) => most ? b.view.entries.length - a.view.entries.length || a.view.number - b.view.number : a.view.number - b.view.number);
    all.forEach((phone, index) => { phone.el.style.order = index; });
  }

  function filter() {
    const wanted = by("filter").value.trim();
    let shown = 0;
    for (const phone of phones.values()) {
      phone.el.hidden = !phone.view.owner.toLowerCase().includes(wanted.toLowerCase());
      if (!phone.el.hidden) shown += 1;
    }
    by("nobody").hidden = shown > 0 || !phones.size;
    by("nobody").textContent = by("nobody").hidden ? "" : `No phone of “${wanted}”. ${phones.size === 1 ? "One phone has" : `${phones.size} phones have`} got a push.`;
  }

  async function follow() {
    for (;;) {
      try {
        const response = await fetch(`phones?after=${version}`);
        if (!response.ok) throw new Error(response.status);
        const changes = await response.json();
        // A smaller version means a new emulator.
        if (changes.version < version) { phones.clear(); by("main").replaceChildren(empty, by("nobody")); }
        version = changes.version;
        changes.phones.forEach(card);
        if (phones.size) empty.remove();
        filter();
        // Phones that keep moving cannot be read, least of all the one that is being looked at.
        if (Date.now() - arrangedAt > 3000 && !by("main").matches(":hover, :focus-within")) arrange();
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
  by("filter").addEventListener("input", filter);
  by("order").addEventListener("change", arrange);
  document.querySelector(".close").append(icon("no"));
  document.querySelector(".close").addEventListener("click", () => by("dialog").close());
  by("dialog").addEventListener("click", event => { if (event.target === by("dialog")) by("dialog").close(); });
  follow();
  </script>
  </body>
  </html>

  """#
