// What is different about bodies and hands.
import { change, draft, editBody, uploads } from "../../data/draft";
import { shapes } from "../../data/store";
import type { BodyInfo, SceneInfo } from "../../messages";
import { Field, Select } from "../../parts/controls";
import { number, words } from "../../parts/format";
import { Group } from "../FilterPanel";

export function BodyForms({ scene }: { scene: SceneInfo }) {
  return (
    <>
      {scene.bodies.map((body) => (
        <BodyForm key={body.name} body={body} />
      ))}
    </>
  );
}

function BodyForm({ body }: { body: BodyInfo }) {
  const edit = draft.value.bodies[body.name];
  const look = edit?.upload ? `upload:${edit.upload}` : edit?.shape ? `shape:${edit.shape}` : "";
  const size = body.size.map((edge) => Math.round(edge * 1000)).join(" × ");
  const figure = (label: string, key: "mass" | "friction", usual: number, most: number) => (
    <Field label={label}>
      <input
        type="number"
        min={key === "mass" ? 0.001 : 0}
        max={most}
        step="any"
        value={edit?.[key] ?? ""}
        placeholder={number(usual)}
        data-testid={`${key}-${body.name}`}
        onInput={(event) => {
          const text = event.currentTarget.value;
          editBody(body.name, { [key]: text === "" ? null : Number(text) });
        }}
      />
    </Field>
  );
  return (
    <Group title={words(body.name)}>
      <Select
        label="Looks like"
        testid={`shape-${body.name}`}
        value={look}
        options={[
          ["", `Its own shape, ${size} mm`],
          ...uploads.value
            .filter((u) => u.kind === "mesh")
            .map((u) => [`upload:${u.id}`, u.name] as const),
          ...shapes.value.map(
            (s) => [`shape:${s.name}`, `${words(s.name)}: ${s.summary}`] as const,
          ),
        ]}
        onChange={(value) => {
          const [kind, name = ""] = value.split(/:(.*)/);
          editBody(body.name, {
            shape: kind === "shape" ? name : null,
            upload: kind === "upload" ? name : null,
          });
        }}
      />
      <div class="pairs-grid">
        {figure("Mass, kg", "mass", body.mass, 100)}
        {figure("Friction", "friction", body.friction, 5)}
      </div>
    </Group>
  );
}

export function HandForms({ scene }: { scene: SceneInfo }) {
  return (
    <Group title={scene.hands.length > 1 ? "Hands" : "Hand"}>
      {scene.hands.map((hand) => (
        <div class="field" key={hand} role="group" aria-label={`Offset of the ${hand} hand`}>
          <span class="field-label">{words(hand)}, moved by (x, y, z) mm</span>
          <div class="triple">
            {[0, 1, 2].map((axis) => (
              <input
                key={axis}
                type="number"
                step="1"
                aria-label={`${hand}, ${"xyz"[axis]}`}
                data-testid={`offset-${hand}-${"xyz"[axis]}`}
                value={Math.round((draft.value.offsets[hand]?.[axis] ?? 0) * 1e4) / 10}
                onInput={(event) => moveHand(hand, axis, Number(event.currentTarget.value) / 1000)}
              />
            ))}
          </div>
        </div>
      ))}
    </Group>
  );
}

function moveHand(hand: string, axis: number, metres: number): void {
  const offset: [number, number, number] = [...(draft.value.offsets[hand] ?? [0, 0, 0])];
  offset[axis] = metres;
  change({ offsets: { ...draft.value.offsets, [hand]: offset } });
}
