// The clock's controls: play, step, scrub, speed, loop.
import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";

import { useShortcuts } from "../data/keys";
import {
  changeSpeed,
  duration,
  frame,
  frameTimes,
  isLooping,
  isPlaying,
  seek,
  speed,
  SPEEDS,
  step,
  time,
  togglePlay,
} from "../data/playback";
import { IconButton, Segmented } from "./controls";

export function Transport() {
  useShortcuts("Playing", [
    { keys: [" "], label: "Play or pause", does: togglePlay },
    { keys: ["ArrowLeft", ","], label: "One frame back", does: () => step(-1) },
    { keys: ["ArrowRight", "."], label: "One frame on", does: () => step(1) },
    { keys: ["Home"], label: "To the start", does: () => seek(0) },
    { keys: ["End"], label: "To the end", does: () => seek(duration.value) },
    { keys: ["-"], label: "Slower", does: () => changeSpeed(-1) },
    { keys: ["+", "="], label: "Faster", does: () => changeSpeed(1) },
    { keys: ["l"], label: "Loop", does: () => (isLooping.value = !isLooping.value) },
  ]);
  const playing = isPlaying.value;
  return (
    <div class="transport" role="group" aria-label="Playing">
      <IconButton
        icon="back"
        label="One frame back"
        keys="←"
        testid="step-back"
        onClick={() => step(-1)}
      />
      <IconButton
        icon={playing ? "pause" : "play"}
        label={playing ? "Pause" : "Play"}
        keys="space"
        testid="play"
        class="play-button"
        onClick={togglePlay}
      />
      <IconButton
        icon="forward"
        label="One frame on"
        keys="→"
        testid="step-forward"
        onClick={() => step(1)}
      />
      <IconButton
        icon="loop"
        label="Loop"
        keys="L"
        testid="loop"
        isOn={isLooping.value}
        onClick={() => (isLooping.value = !isLooping.value)}
      />
      <Scrubber />
      <Readout />
      <Segmented
        label="Speed"
        values={SPEEDS}
        value={speed.value}
        name={(s) => `${s}×`}
        testid="speed"
        onChange={(s) => (speed.value = s)}
      />
    </div>
  );
}

function Scrubber() {
  const input = useRef<HTMLInputElement>(null);
  // The slider follows the clock without being made anew sixty times a second.
  useSignalEffect(() => {
    const slider = input.current;
    if (!slider) return;
    const last = duration.value || 1;
    slider.max = String(last);
    slider.value = String(time.value);
    slider.style.setProperty("--share", `${(100 * time.value) / last}%`);
    slider.setAttribute("aria-valuetext", `${time.value.toFixed(2)} seconds`);
  });
  return (
    <input
      ref={input}
      class="scrubber"
      type="range"
      min="0"
      step="any"
      aria-label="Time"
      data-testid="scrubber"
      onInput={(event) => seek(Number(event.currentTarget.value))}
      onKeyDown={(event) => event.key !== "Tab" && event.key !== "?" && event.preventDefault()}
    />
  );
}

function Readout() {
  const output = useRef<HTMLOutputElement>(null);
  useSignalEffect(() => {
    const count = frameTimes.value.length;
    const text = `${time.value.toFixed(2)} / ${duration.value.toFixed(2)} s`;
    if (!output.current) return;
    output.current.textContent = text;
    output.current.dataset.frame = String(frame.value);
    output.current.title = `Frame ${frame.value + 1} of ${count}`;
  });
  return <output ref={output} class="readout" data-testid="time" />;
}
