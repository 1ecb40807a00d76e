// Where bodies should end up, for scenes that give goals rather than tracks.
import { signal } from "@preact/signals";

import { aiming, change, draft, takesGoals } from "../../data/draft";
import type { GoalRequest, SceneInfo } from "../../messages";
import { Field, IconButton, Segmented, Switch } from "../../parts/controls";
import { words } from "../../parts/format";
import { Icon } from "../../parts/Icon";
import { Group } from "../FilterPanel";

export const gizmoMode = signal<"translate" | "rotate">("translate");

export function GoalForm({ scene }: { scene: SceneInfo }) {
  if (!takesGoals.value) return null;
  const body = aiming.value;
  const goal = body ? draft.value.goals[body] : undefined;
  return (
    <Group title="Goals">
      <p class="muted">Pale bodies show where they should be. Choose one to drag it elsewhere.</p>
      <div class="digits" role="group" aria-label="Body with a goal">
        {scene.bodies.map(({ name }) => (
          <button
            type="button"
            key={name}
            class="chip"
            aria-pressed={body === name}
            data-testid={`goal-${name}`}
            onClick={() => (aiming.value = body === name ? null : name)}
          >
            <Icon name="target" />
            {words(name)}
          </button>
        ))}
        {body && (
          <Segmented
            label="Drag"
            values={["translate", "rotate"] as const}
            value={gizmoMode.value}
            name={(m) => (m === "translate" ? "Move" : "Turn")}
            testid="gizmo"
            onChange={(m) => (gizmoMode.value = m)}
          />
        )}
      </div>
      {goal && <GoalFields goal={goal} longest={scene.duration} />}
    </Group>
  );
}

function GoalFields({ goal, longest }: { goal: GoalRequest; longest: number }) {
  const set = (part: Partial<GoalRequest>) =>
    change({ goals: { ...draft.value.goals, [goal.body]: { ...goal, ...part } } });
  const clear = () => {
    const goals = { ...draft.value.goals };
    delete goals[goal.body];
    change({ goals });
    aiming.value = null;
  };
  const place = goal.position.map((x) => Math.round(x * 1000)).join(", ");
  return (
    <div class="goal" data-testid="goal">
      <div class="row">
        <span>
          {words(goal.body)} at ({place}) mm
        </span>
        <span class="grow" />
        <IconButton icon="cross" label="Remove the goal" testid="goal-remove" onClick={clear} />
      </div>
      <div class="pairs-grid">
        <Field label="At the time, s">
          <input
            type="number"
            min="0"
            max={longest}
            step="0.1"
            value={Number(goal.time.toFixed(2))}
            data-testid="goal-time"
            onInput={(event) => set({ time: Number(event.currentTarget.value) })}
          />
        </Field>
        {goal.wxyz && (
          <Switch
            label="Turned as shown"
            value
            testid="goal-turned"
            onChange={() => set({ wxyz: null })}
          />
        )}
      </div>
    </div>
  );
}
