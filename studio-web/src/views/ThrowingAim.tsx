// What throws are for: a height, a box, or half turns.
import { Segmented } from "../parts/controls";
import { FINE, type useThrowing } from "./useThrowing";

const AXES = ["right", "ahead", "up"] as const;
const TARGETS = ["height", "box"] as const;
const NAMES = { height: "Height", box: "Box" };

export function ThrowingAim({ live }: { live: ReturnType<typeof useThrowing> }) {
  const target = live.target.value;
  if (target === "half_turns") return <HalfTurns live={live} />;
  return (
    <>
      <Segmented
        label="Target"
        values={TARGETS}
        value={target}
        name={(value) => NAMES[value]}
        testid="throwing-target"
        onChange={live.setTarget}
      />
      {target === "height" ? <HeightSlider live={live} /> : <BoxFields live={live} />}
    </>
  );
}

function HeightSlider({ live }: { live: ReturnType<typeof useThrowing> }) {
  const [low = 0, high = 1] = live.choices.value?.heights ?? [];
  const height = live.height.value;
  return (
    <label
      class="aim-slider"
      title={`Above the palm at rest, ${low} to ${high} m: as high as the arm throws`}
    >
      <span>Throw height, m</span>
      <input
        class="slider"
        type="range"
        min={low}
        max={high}
        step={FINE}
        value={height}
        data-testid="throwing-height"
        onInput={(event) => live.setHeight(Number(event.currentTarget.value))}
      />
      <b>{height.toFixed(2)}</b>
    </label>
  );
}

/** Where the box is, from the palm at rest. */
function BoxFields({ live }: { live: ReturnType<typeof useThrowing> }) {
  const choices = live.choices.value;
  if (!choices) return null;
  const { palm, box_low, box_high } = choices;
  const place = live.box.value;
  const from = (values: readonly number[], i: number) =>
    ((values[i] ?? 0) - (palm[i] ?? 0)).toFixed(2);
  return (
    <div class="aim-box" title="Middle of the box, from the palm at rest">
      <span>Box, m</span>
      {AXES.map((axis, i) => (
        <label key={axis}>
          <span>{axis}</span>
          <input
            type="number"
            min={from(box_low, i)}
            max={from(box_high, i)}
            step={FINE}
            value={from(place, i)}
            title={`${from(box_low, i)} to ${from(box_high, i)} m`}
            data-testid={`throwing-box-${axis}`}
            onChange={(event) => {
              const value = Number(event.currentTarget.value);
              live.setBox(place.map((x, j) => (j === i ? value + (palm[i] ?? 0) : x)));
              event.currentTarget.value = from(live.box.value, i);
            }}
          />
        </label>
      ))}
    </div>
  );
}

function HalfTurns({ live }: { live: ReturnType<typeof useThrowing> }) {
  const thing = live.choices.value?.things.find(({ name }) => name === live.thing.value);
  const asked = live.facts.value?.throwing?.half_turns ?? thing?.half_turns[0] ?? 1;
  return (
    <div class="aim-turns" title="By which it turns end over end in the air">
      <span>Half turns</span>
      <Segmented
        label="Half turns"
        values={thing?.half_turns ?? []}
        value={asked}
        testid="throwing-half-turns"
        onChange={(half_turns) => live.aim({ half_turns })}
      />
    </div>
  );
}
