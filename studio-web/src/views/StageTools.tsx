// What is drawn on the stage, chosen over the picture.
import type { Signal } from "@preact/signals";

import { Switch } from "../parts/controls";
import { ModeLegend } from "../plots/TimelinePanel";
import { painter } from "../scene/painter";
import type { Overlays } from "../scene/player";
import { IconButton } from "../parts/controls";

const SWITCHES: readonly ["contacts" | "forces" | "cones" | "trails" | "follow", string, string][] =
  [
    ["contacts", "Contacts", "Points where digits touch, in the colour of their mode"],
    ["forces", "Forces", "Blue far inside the friction cone, red on its edge"],
    ["cones", "Cones", "Friction cones: a force outside would slip"],
    ["trails", "Trails", "Ways of fingertips and bodies"],
    ["follow", "Follow", "The camera goes with the body"],
  ];

export function StageTools({ overlays }: { overlays: Signal<Overlays> }) {
  const now = overlays.value;
  const keep = (event: Event) => event.stopPropagation();
  return (
    <>
      <div
        class="tools"
        role="group"
        aria-label="What is drawn"
        onPointerDown={keep}
        onWheel={keep}
      >
        {SWITCHES.map(([key, label, help]) => (
          <Switch
            key={key}
            label={label}
            help={help}
            value={now[key]}
            testid={`show-${key}`}
            onChange={(value) => (overlays.value = { ...now, [key]: value })}
          />
        ))}
        <label class="tool-slider">
          <span>Hand</span>
          <input
            class="slider"
            type="range"
            min="0.1"
            max="1"
            step="0.05"
            value={now.handOpacity}
            aria-label="Opacity of the hand"
            data-testid="hand-opacity"
            onInput={(event) =>
              (overlays.value = { ...now, handOpacity: Number(event.currentTarget.value) })
            }
          />
        </label>
        <IconButton
          icon="reset"
          label="Camera as at first"
          keys="0"
          testid="reset-camera"
          onClick={() => painter().rig.reset()}
        />
      </div>
      <div class="legends">
        {(now.contacts || now.forces || now.cones) && <ModeLegend />}
        {(now.forces || now.cones) && (
          <div
            class="margin-legend"
            aria-label="Colour of forces: margin to the edge of the friction cone"
          >
            <span>on the edge</span>
            <i />
            <span>safe</span>
          </div>
        )}
      </div>
    </>
  );
}
