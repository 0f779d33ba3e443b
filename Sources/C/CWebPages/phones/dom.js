// Elements and drawings. Texts of messages become text nodes only; nothing here writes markup.

export const by = id => document.getElementById(id);

export const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
};

/** Drawn, so that they need no font. */
const paths = {
  bell: "M8 2a4 4 0 0 0-4 4c0 4-1.5 5-1.5 5h11S12 10 12 6a4 4 0 0 0-4-4ZM6.5 13.5a1.6 1.6 0 0 0 3 0",
  mute: "M4.2 4.8A4 4 0 0 0 4 6c0 4-1.5 5-1.5 5H10M6.3 2.4A4 4 0 0 1 12 6c0 1.2.2 2.1.5 2.9M6.5 13.5a1.6 1.6 0 0 0 3 0M2 2l12 12",
  picture: "M2 3h12v10H2zM2 11l3.5-3.5 3 3 2-2L14 12M10.5 6h.01", again: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  yes: "M3 8.5l3.5 3.5L13 4.5", no: "M4 4l8 8M12 4l-8 8", bubble: "M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z", back: "M10 3L5 8l5 5",
};

export const icon = (name, label) => {
  const drawing = by("drawing").content.firstElementChild.cloneNode(true);
  if (label) {
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", label);
  } else drawing.setAttribute("aria-hidden", "true");
  drawing.firstElementChild.setAttribute("d", paths[name]);
  return drawing;
};

/** A button with a drawing, which a label names. */
export const iconButton = (name, drawing, label, act) => {
  const button = make("button", name);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.append(icon(drawing));
  button.addEventListener("click", act);
  return button;
};

export const clock = at => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

/** Makes the children of an element those that are wanted. One that stays keeps its place, and the focus stays with it. */
export function align(parent, wanted) {
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
