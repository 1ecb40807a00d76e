// A stack of rows that share one time axis: a playhead over them, a tip under the pointer, and
// dragging that moves the clock.
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import { isPlaying, seek, time } from "../data/playback";
import { frameAt } from "../scene/frameContacts";

interface TimeAreaProps {
  times: readonly number[];
  /** What the tip says of a frame. */
  tip: (frame: number) => ComponentChildren;
  testid: string;
  children: ComponentChildren;
}

export function TimeArea({ times, tip, testid, children }: TimeAreaProps) {
  const area = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const hovered = useSignal<{ frame: number; share: number } | null>(null);
  const last = times[times.length - 1] || 1;
  useSignalEffect(() => {
    head.current?.style.setProperty("--share", String(Math.min(time.value / last, 1)));
  });
  const shareAt = (event: PointerEvent): number => {
    const label = Number.parseFloat(getComputedStyle(area.current!).getPropertyValue("--label"));
    const box = area.current!.getBoundingClientRect();
    const share = (event.clientX - box.left - label) / Math.max(box.width - label, 1);
    return Math.min(Math.max(share, 0), 1);
  };
  const move = (event: PointerEvent) => {
    const share = shareAt(event);
    hovered.value = { frame: frameAt(times, share * last), share };
    if (event.buttons & 1) seek(share * last);
  };
  const shown = hovered.value;
  return (
    <div
      ref={area}
      class="time-area"
      data-testid={testid}
      onPointerMove={move}
      onPointerLeave={() => (hovered.value = null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        area.current!.setPointerCapture(event.pointerId);
        isPlaying.value = false;
        seek(shareAt(event) * last);
      }}
    >
      {children}
      <div ref={head} class="playhead" aria-hidden="true" />
      {shown && (
        <>
          <div class="hover-line" style={{ "--share": shown.share }} aria-hidden="true" />
          <div
            class={`tip ${shown.share > 0.6 ? "tip-left" : ""}`}
            style={{ "--share": shown.share }}
            role="tooltip"
            data-testid="frame-tip"
            data-frame={shown.frame}
          >
            {tip(shown.frame)}
          </div>
        </>
      )}
    </div>
  );
}
