// Digits that must touch a body at a point, placed by clicking on it.
import { change, draft, pinning } from "../../data/draft";
import { duration, seek } from "../../data/playback";
import type { PinRequest, SceneInfo } from "../../messages";
import { IconButton } from "../../parts/controls";
import { words } from "../../parts/format";
import { Icon } from "../../parts/Icon";
import { Group } from "../FilterPanel";

export function PinForm({ scene }: { scene: SceneInfo }) {
  const { pins } = draft.value;
  return (
    <Group title="Pins">
      <p class="muted">
        Choose a digit, then click on the body where it must touch at the time shown.
      </p>
      <div class="digits" role="group" aria-label="Digit to pin">
        {scene.digits.map((digit) => (
          <button
            type="button"
            key={digit}
            class="chip"
            aria-pressed={pinning.value === digit}
            data-testid={`pin-${digit}`}
            onClick={() => (pinning.value = pinning.value === digit ? null : digit)}
          >
            <Icon name="pin" />
            {words(digit)}
          </button>
        ))}
      </div>
      {pins.length > 0 && (
        <ul class="pins">
          {pins.map((pin, i) => (
            <PinRow key={`${pin.digit} ${pin.start} ${pin.point}`} pin={pin} index={i} />
          ))}
        </ul>
      )}
    </Group>
  );
}

function PinRow({ pin, index }: { pin: PinRequest; index: number }) {
  const { pins } = draft.value;
  const set = (part: Partial<PinRequest>) =>
    change({ pins: pins.map((other, i) => (i === index ? { ...other, ...part } : other)) });
  const place = pin.point.map((metres) => (1000 * metres).toFixed(1)).join(", ");
  return (
    <li data-testid="pin" title={`At (${place}) mm on the body`} data-place={place}>
      <button type="button" class="pin-name" title="Go to its time" onClick={() => seek(pin.start)}>
        <Icon name="pin" /> {words(pin.digit)}
      </button>
      <input
        type="number"
        min="0"
        max={duration.value}
        step="0.1"
        aria-label="From, s"
        value={Number(pin.start.toFixed(2))}
        onInput={(event) => set({ start: Number(event.currentTarget.value) })}
      />
      <span class="muted">to</span>
      <input
        type="number"
        min="0"
        max={duration.value}
        step="0.1"
        aria-label="Until, s"
        placeholder="end"
        value={pin.end === null ? "" : Number(pin.end.toFixed(2))}
        onInput={(event) =>
          set({ end: event.currentTarget.value === "" ? null : Number(event.currentTarget.value) })
        }
      />
      <span class="muted">s</span>
      <IconButton
        icon="cross"
        label="Remove the pin"
        testid="pin-remove"
        onClick={() => change({ pins: pins.filter((_, i) => i !== index) })}
      />
    </li>
  );
}
