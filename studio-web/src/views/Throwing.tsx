// An arm that throws and catches while one says how high, at which box, or what.
import type { ThrowingState, ThrownThing } from "../messages";
import { Select } from "../parts/controls";
import { words } from "../parts/format";
import { KeyCard, type KeyRow } from "../parts/KeyCard";
import { RecordButton, RecordingMark } from "../parts/Recording";
import { PauseButton, ResetButton } from "../parts/RunButtons";
import { LiveChoice, THROWING } from "./LiveChoice";
import { LiveNotices } from "./LiveNotices";
import { ThrowingAim } from "./ThrowingAim";
import { useThrowing } from "./useThrowing";

const KEYS: readonly KeyRow[] = [
  ["space", "pause, go on"],
  ["N", "next thing"],
];
const HEIGHT_KEYS: readonly KeyRow[] = [
  ["E Q", "throw higher, lower"],
  ["B", "throw at a box"],
];
const BOX_KEYS: readonly KeyRow[] = [
  ["drag", "move the box"],
  ["W A S D", "move it"],
  ["E Q", "lift, lower"],
  ["B", "throw to a height"],
];

function keysFor(target: ThrowingState["target"]): readonly KeyRow[] {
  if (target === "half_turns") return KEYS;
  return [...(target === "box" ? BOX_KEYS : HEIGHT_KEYS), ...KEYS];
}

/** `Ball, 60 mm, 100 g`. */
function title({ name, size, mass }: ThrownThing): string {
  const edges = [...new Set(size.map((edge) => Math.round(1000 * edge)))].join(" × ");
  return `${words(name)}, ${edges} mm, ${Math.round(1000 * mass)} g`;
}

export function Throwing() {
  const live = useThrowing();
  const state = live.state.value;
  const throwing = live.facts.value?.throwing ?? null;
  const recorded = throwing?.recorded ?? null;
  const isRunning = state === "running";
  return (
    <main class="live" data-testid="throwing">
      <div ref={live.container} class="views stage-view throwing-views" data-testid="throwing-view">
        <div ref={live.cell} class="cell">
          <LiveNotices
            {...live}
            preparing="Building the arm…"
            trouble="The arm that throws is not there"
          />
          {isRunning && throwing && <Score {...throwing} />}
        </div>
        <div ref={live.closeCell} class="cell">
          <RecordingMark recorded={recorded} testid="throwing-recorded" />
          {isRunning && (
            <>
              <span class="cell-caption">The hand, from near by</span>
              <KeyCard rows={keysFor(live.target.value)} testid="throwing-keys" />
            </>
          )}
        </div>
      </div>
      <div class="live-bar">
        <LiveChoice scene={THROWING} />
        <Select
          label="What is thrown"
          value={live.thing.value}
          options={(live.choices.value?.things ?? []).map((one) => [one.name, title(one)])}
          testid="throwing-thing"
          isCompact
          onChange={live.choose}
        />
        <ThrowingAim live={live} />
        <PauseButton
          isPaused={live.isPaused.value}
          disabled={!isRunning}
          onClick={live.togglePause}
        />
        <ResetButton onClick={live.reset} />
        <div class="live-facts" data-testid="throwing-facts">
          {throwing && (
            <>
              <span title="Frames that were made in the last second">
                <b>{live.facts.value?.fps.toFixed(0)}</b> frames/s
              </span>
              <span title="Computing for a frame: simulation and controller">
                <b>{throwing.milliseconds.toFixed(1)}</b> ms
              </span>
            </>
          )}
        </div>
        <span class="grow" />
        <RecordButton
          recorded={recorded}
          testid="throwing-record"
          disabled={!isRunning}
          onClick={live.record}
        />
      </div>
    </main>
  );
}

/** How it goes. */
function Score(state: ThrowingState) {
  const { counted, in_a_row, most_in_a_row, dropped, asked, reached } = state;
  const did = { height: "caught", box: "hit and caught", half_turns: "turned and caught" }[counted];
  const error = asked === null || reached === null ? null : Math.round(1000 * (reached - asked));
  return (
    <dl class="score" data-testid="throwing-score">
      <div class="score-row">
        <dt>{did}</dt>
        <dd>
          <b data-testid="throwing-in-a-row">{in_a_row}</b> in a row
        </dd>
      </div>
      <div>
        <dt>most in a row</dt>
        <dd>{most_in_a_row}</dd>
      </div>
      <div>
        <dt>dropped</dt>
        <dd>{dropped}</dd>
      </div>
      {reached !== null && error !== null && (
        <div>
          <dt>last throw</dt>
          <dd title="How high it went above the palm, and how far that is from what was asked for">
            {reached.toFixed(3)} m, {error < 0 ? "−" : "+"}
            {Math.abs(error)} mm
          </dd>
        </div>
      )}
    </dl>
  );
}
