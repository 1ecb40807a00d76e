// A grab of something in a picture: pointer down on it, moves, and up again. The camera, which
// listens to the same element, does not see it.

export interface Grab {
  /** Whether the pointer is on something that it can take. */
  take: (event: PointerEvent) => boolean;
  move: (event: PointerEvent) => void;
  letGo: () => void;
}

/** Listens; returns what ends that. */
export function listenForGrabs(element: HTMLElement, grab: Grab): () => void {
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !grab.take(event)) return;
    event.stopPropagation();
    element.setPointerCapture(event.pointerId);
  };
  element.addEventListener("pointerdown", down, { capture: true });
  element.addEventListener("pointermove", grab.move);
  element.addEventListener("pointerup", grab.letGo);
  element.addEventListener("pointercancel", grab.letGo);
  return () => {
    element.removeEventListener("pointerdown", down, { capture: true });
    element.removeEventListener("pointermove", grab.move);
    element.removeEventListener("pointerup", grab.letGo);
    element.removeEventListener("pointercancel", grab.letGo);
  };
}
