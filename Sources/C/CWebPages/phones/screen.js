// The screen of an open app: conversations, one of them with its messages, and the banner above.

import { align, iconButton, make } from "./dom.js";

export class Screen {
  element = make("div", "app");

  #app;
  #bar = make("div", "bar");
  #name = make("span", "name");
  #stream = make("span", "stream");
  #back;
  #banner = make("div", "banner");
  #go = make("button", "go");
  #objection = make("p", "objection");
  #chats = make("div", "chats");
  #chat = make("div", "chat");
  #log = make("div", "log");
  #form = make("form");
  #text = make("input");
  #failure = make("p", "failure");

  constructor(app) {
    this.#app = app;
    this.element.hidden = true;
    this.element.tabIndex = -1;
    this.element.setAttribute("role", "group");
    this.#back = iconButton("back", "back", "All conversations", () => { app.openChat(null); this.focus(); });
    this.#stream.setAttribute("role", "status");
    this.#bar.append(this.#back, this.#name, this.#stream);
    this.#banner.setAttribute("role", "status");
    this.#go.type = "button";
    this.#go.append(make("b"), make("span"));
    this.#go.addEventListener("click", () => app.bannerTapped());
    this.#banner.append(this.#go, iconButton("x", "no", "Dismiss the banner", () => app.bannerDismissed()));
    this.#objection.setAttribute("role", "alert");
    this.#log.setAttribute("role", "log");
    this.#log.tabIndex = 0;
    this.#log.setAttribute("aria-label", "Messages");
    this.#text.setAttribute("aria-label", "Message");
    this.#text.placeholder = "Message";
    this.#text.autocomplete = "off";
    this.#failure.setAttribute("role", "alert");
    const send = make("button", "send", "Send");
    this.#form.append(this.#text, send);
    this.#form.addEventListener("submit", event => this.#send(event));
    this.#chat.append(this.#log, this.#failure, this.#form);
    this.element.append(this.#bar, this.#banner, this.#objection, this.#chats, this.#chat);
    this.element.addEventListener("pointerdown", () => app.touched());
    this.element.addEventListener("keydown", () => app.touched());
  }

  focus() { this.element.focus(); }

  draw(owner) {
    const app = this.#app;
    this.element.hidden = !app.isOpen;
    if (!app.isOpen) return;
    this.element.setAttribute("aria-label", `App of ${owner}`);
    const chat = app.chat === null ? null : app.chats.get(app.chat);
    this.#name.textContent = chat?.title ?? "Conversations";
    this.#stream.textContent = app.isLive ? "live" : app.objection === null ? "connecting" : "";
    this.#stream.classList.toggle("on", app.isLive);
    this.#back.hidden = !chat;
    this.#objection.hidden = app.objection === null;
    this.#objection.textContent = app.objection ?? "";
    this.#drawBanner(app.banner);
    this.#chats.hidden = Boolean(chat) || app.objection !== null;
    this.#chat.hidden = !chat || app.objection !== null;
    if (chat) this.#drawChat(chat); else this.#drawChats([...app.chats.values()].reverse());
  }

  #drawBanner(banner) {
    this.#banner.hidden = !banner;
    const [who, what] = this.#go.children;
    who.textContent = banner ? [banner.senderName, banner.groupName].filter(Boolean).join(" in ") : "";
    what.textContent = banner?.preview ?? "";
  }

  #drawChats(chats) {
    const known = new Map([...this.#chats.children].map(element => [element.dataset.tag, element]));
    align(this.#chats, chats.length ? chats.map(chat => {
      const row = known.get(chat.id) ?? this.#row(chat.id);
      const [title, last, unread] = row.children;
      title.textContent = chat.title;
      last.textContent = chat.messages.at(-1)?.text ?? "";
      unread.textContent = chat.unread > 99 ? "99+" : String(chat.unread);
      unread.hidden = chat.unread === 0;
      return row;
    }) : [known.get("") ?? this.#nothing("No conversation yet")]);
  }

  #nothing(text) {
    const line = make("p", "nothing", text);
    line.dataset.tag = "";
    return line;
  }

  #row(id) {
    const row = make("button", "row");
    row.type = "button";
    row.dataset.tag = id;
    row.append(make("b"), make("span", "last"), make("span", "unread"));
    row.addEventListener("click", () => {
      this.#app.openChat(id);
      this.#text.focus();
    });
    return row;
  }

  #drawChat(chat) {
    const known = new Map([...this.#log.children].map(element => [element.dataset.tag, element]));
    const isAtEnd = this.#log.scrollTop + this.#log.clientHeight >= this.#log.scrollHeight - 4;
    align(this.#log, chat.messages.length ? chat.messages.map(message => {
      const line = known.get(message.id) ?? make("p", message.isOwn ? "said own" : "said");
      line.dataset.tag = message.id;
      if (line.textContent !== message.text) line.textContent = message.text;
      line.title = message.who;
      return line;
    }) : [known.get("") ?? this.#nothing("Messages that Nudge brings are here.")]);
    if (isAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  async #send(event) {
    event.preventDefault();
    const text = this.#text.value.trim();
    if (text === "") return;
    this.#failure.textContent = "";
    this.#text.value = "";
    try {
      await this.#app.send(text);
    } catch (error) {
      this.#text.value ||= text;
      this.#failure.textContent = error.message;
    }
  }
}
