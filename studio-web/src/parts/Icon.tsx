// Line drawings of 24 by 24, in the colour of the text.
const PATHS = {
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 5v14M16 5v14",
  back: "M17 6l-8 6 8 6zM6 6v12",
  forward: "M7 6l8 6-8 6zM18 6v12",
  loop: "M17 4l3 3-3 3M4 12V10a3 3 0 0 1 3-3h13M7 20l-3-3 3-3M20 12v2a3 3 0 0 1-3 3H4",
  star: "M12 3.6l2.6 5.3 5.8.8-4.2 4.1 1 5.8L12 16.9l-5.2 2.7 1-5.8-4.2-4.1 5.8-.8z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4.2 2.6c-.9.5-1.4 1-1.4 2.2M12 17.2v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  download: "M12 4v11M7.5 11L12 15.5 16.5 11M5 19.5h14",
  upload: "M12 16V5M7.5 9L12 4.5 16.5 9M5 19.5h14",
  compare: "M4 5h7v14H4zM13 5h7v14h-7z",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  make: "M5 19l9.5-9.5M13 5l1 2 2 1-2 1-1 2-1-2-2-1 2-1zM18.5 11l.7 1.3 1.3.7-1.3.7-.7 1.3-.7-1.3-1.3-.7 1.3-.7z",
  live: "M13 3L5.5 13.5H11L10 21l8-11h-5.6z",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 12.5h8L17 7M10.5 10.5v5.5M13.5 10.5v5.5",
  left: "M14.5 6l-6 6 6 6",
  right: "M9.5 6l6 6-6 6",
  down: "M6 9.5l6 6 6-6",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  filter: "M4 6h16M7 12h10M10 18h4",
  plus: "M12 5v14M5 12h14",
  pin: "M12 21c4-5 6-8 6-11a6 6 0 1 0-12 0c0 3 2 6 6 11zM12 8a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 12 8z",
  target: "M12 4v4M12 16v4M4 12h4M16 12h4M12 6.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z",
  open: "M9 5H5v14h14v-4M13 5h6v6M19 5l-8.5 8.5",
  reset: "M4.5 9A8 8 0 1 1 4 13M4.5 4v5h5",
  alert: "M12 4l9 16H3zM12 10v4.5M12 17.2v.1",
  record: "M12 5.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z",
  stop: "M6.5 6.5h11v11h-11z",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
} as const;

export type IconName = keyof typeof PATHS;
const FILLED: readonly IconName[] = ["play", "back", "forward", "record", "stop"];

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  const isFilled = filled || FILLED.includes(name);
  return (
    <svg class={`icon ${isFilled ? "icon-filled" : ""}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
