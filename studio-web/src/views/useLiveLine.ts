// What every live view does: speaks with the server, fetches the first picture, shows the frames
// that come, and begins anew when asked to.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { LiveLine } from "../data/live";
import { markReady } from "../data/route";
import { server } from "../data/server";
import { tell } from "../data/toasts";
import type { LiveCommand, LiveFrame } from "../messages";
import type { ClipModel } from "../scene/model";
import { forget, modelOf } from "../scene/models";

/** s between two looks of the page at figures: every frame would cost more than drawing it. */
const LOOK = 1 / 8;

/** The picture of a live view. */
export interface LivePicture {
  show(model: ClipModel): void;
  apply(frame: LiveFrame): void;
  dispose(): void;
}

export interface LiveKind<Picture extends LivePicture> {
  /** Of the view, and of its model among those that are kept. */
  name: string;
  /** With which it begins. */
  start: LiveCommand;
  /** Whether what is refused stops the picture; else it is only told. */
  stops: boolean;
  picture: (element: HTMLElement, cell: HTMLElement, drawn: () => void) => Picture;
  /** The model is shown, and frames will come. */
  began?: (ready: LiveFrame, model: ClipModel) => void;
  /** A frame was shown. */
  came?: (frame: LiveFrame, picture: Picture) => void;
  /** A frame whose figures the page looks at, with the one before; and what was refused. */
  looked?: (frame: LiveFrame, before: LiveFrame | null) => void;
  refused?: () => void;
  /** Listens to the pointer; returns what ends that. */
  listen?: (element: HTMLElement, picture: Picture) => () => void;
}

export function useLiveLine<Picture extends LivePicture>(kind: LiveKind<Picture>, key: string) {
  const container = useRef<HTMLDivElement>(null);
  const cell = useRef<HTMLDivElement>(null);
  const line = useRef<LiveLine | null>(null);
  const picture = useRef<Picture | null>(null);
  const state = useSignal<"preparing" | "running" | "trouble">("preparing");
  const message = useSignal("");
  /** What is told in figures. */
  const facts = useSignal<LiveFrame | null>(null);
  /** Grows when a lost connection is made anew. */
  const attempts = useSignal(0);

  useEffect(() => {
    const element = container.current!;
    state.value = "preparing";
    const shown = kind.picture(element, cell.current!, () => markReady(kind.name));
    picture.current = shown;
    let loaded: Promise<unknown> = Promise.resolve();
    let lastLook = 0;
    let isGone = false;
    const fail = (text: string) => {
      message.value = text;
      state.value = "trouble";
    };
    const look = (frame: LiveFrame) => {
      const now = performance.now() / 1000;
      if (now - lastLook < LOOK) return;
      lastLook = now;
      kind.looked?.(frame, facts.value);
      facts.value = frame;
    };
    const take = (frame: LiveFrame) => {
      if (frame.kind === "preparing") {
        state.value = "preparing";
        message.value = frame.message;
      } else if (frame.kind === "ready") {
        forget(kind.name);
        loaded = modelOf(kind.name, () => server.binary(frame.model)).then((model) => {
          // The picture may belong to another view by now.
          if (isGone) return;
          shown.show(model);
          kind.began?.(frame, model);
          state.value = "running";
        });
        loaded.catch((error: unknown) => {
          if (!isGone) fail(error instanceof Error ? error.message : String(error));
        });
      } else if (frame.kind === "frame") {
        const show = () => {
          if (isGone) return;
          made.say({ kind: "seen" });
          if (state.value === "preparing") return;
          // A refused wish does not stop what is shown.
          if (state.value === "trouble") state.value = "running";
          shown.apply(frame);
          look(frame);
          kind.came?.(frame, shown);
        };
        // A model that could not be loaded has been told of already.
        loaded.then(show, () => undefined);
      } else if (frame.kind === "saved") {
        tell("Saved. The clip is on the wall.");
      } else if (state.value === "running" && !kind.stops) {
        tell(frame.message, "bad");
        kind.refused?.();
      } else {
        fail(frame.message);
      }
    };
    const made = new LiveLine(take, fail, () => made.say(kind.start));
    line.current = made;
    const stopListening = kind.listen?.(element, shown);
    return () => {
      isGone = true;
      stopListening?.();
      made.close();
      shown.dispose();
      forget(kind.name);
    };
  }, [key, attempts.value]);

  const say = (command: LiveCommand) => line.current?.say(command);
  const reset = () => {
    if (line.current?.isOpen) say({ kind: "reset" });
    else attempts.value += 1;
  };
  return { container, cell, picture, state, message, facts, say, reset };
}
