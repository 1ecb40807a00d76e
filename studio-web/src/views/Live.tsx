// A scene that is simulated while one pulls at its bodies.
import { useSignal } from "@preact/signals";

import { isLoaded, scenes } from "../data/store";
import { Notice } from "../parts/controls";
import { Icon } from "../parts/Icon";
import { PauseButton, ResetButton } from "../parts/RunButtons";
import { LiveChoice } from "./LiveChoice";
import { LiveNotices } from "./LiveNotices";
import { useLive } from "./useLive";

export function Live({ scene }: { scene: string | null }) {
  const able = scenes.value.filter((other) => other.is_live);
  const name = scene ?? able.find((other) => other.name.includes("pushed"))?.name ?? able[0]?.name;
  if (!name) {
    return (
      <main class="center">
        <Notice
          icon={isLoaded.value && scenes.value.length > 0 ? "live" : "clock"}
          title={scenes.value.length > 0 ? "No scene can be simulated live" : "Reading the scenes…"}
        />
      </main>
    );
  }
  return <LiveView key={name} name={name} />;
}

function LiveView({ name }: { name: string }) {
  const live = useLive(name);
  const place = useSignal({ x: 0, y: 0 });
  const state = live.state.value;
  const force = live.newtons.value;
  return (
    <main class="live" data-testid="live">
      <div
        ref={live.container}
        class="views stage-view"
        data-testid="live-view"
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          place.value = { x: event.clientX - box.left, y: event.clientY - box.top };
        }}
      >
        <div ref={live.cell} class="cell">
          <LiveNotices {...live} preparing="Finding grasps…" trouble="The simulation stopped" />
          {state === "running" && force === null && (
            <p class="hint hint-quiet">Drag a body to push it. Drag elsewhere to look around.</p>
          )}
        </div>
        {force !== null && (
          <span
            class="newtons"
            data-testid="newtons"
            style={{ left: `${place.value.x + 18}px`, top: `${place.value.y - 34}px` }}
          >
            {force.toFixed(1)} N
          </span>
        )}
      </div>
      <div class="live-bar">
        <LiveChoice scene={name} />
        <PauseButton
          isPaused={live.isPaused.value}
          disabled={state !== "running"}
          onClick={live.togglePause}
        />
        <ResetButton onClick={live.reset} />
        <div class="live-facts">
          <span data-testid="live-time">
            <b>{(live.facts.value?.time ?? 0).toFixed(2)}</b> s
          </span>
          <span title="Frames that the simulation could make in a second">
            <b>{(live.facts.value?.fps ?? 0).toFixed(0)}</b> frames/s
          </span>
        </div>
        <span class="grow" />
        <button
          type="button"
          class="button"
          data-testid="live-save"
          disabled={state === "preparing"}
          onClick={live.save}
        >
          <Icon name="save" /> Save as clip
        </button>
      </div>
    </main>
  );
}
