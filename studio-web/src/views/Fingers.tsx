// Learned fingers: a prop is dragged and turned, wrists follow, and a network gives the fingers.
import { goTo } from "../data/route";
import { Segmented, Select } from "../parts/controls";
import { words } from "../parts/format";
import { KeyCard, type KeyRow } from "../parts/KeyCard";
import { RecordButton, RecordingMark } from "../parts/Recording";
import { ResetButton } from "../parts/RunButtons";
import { fingersLink, LiveChoice } from "./LiveChoice";
import { LiveNotices } from "./LiveNotices";
import { SIDES, useFingers } from "./useFingers";

/** Counts that are worth a look, by the names that the server gives them. */
const COUNTED: [string, string, string][] = [
  ["swaps", "swaps", "Props that took the place of another"],
  ["held", "held", "Frames in which something stood still for want of poses"],
  ["limited", "limited", "Frames in which fingers were kept from leaping"],
  ["failed", "failed", "Frames in which the network said no posture"],
];

const KEYS: readonly KeyRow[] = [
  ["drag", "move the prop"],
  ["shift drag", "turn it"],
  ["W A S D", "move"],
  ["E Q", "lift, lower"],
  ["J L I K U O", "turn"],
  ["N", "next prop"],
];

export function Fingers({ hands }: { hands: string }) {
  const live = useFingers(hands);
  const state = live.state.value;
  const fingers = live.facts.value?.fingers;
  const recorded = fingers?.recorded ?? null;
  return (
    <main class="live" data-testid="fingers">
      <div ref={live.container} class="views stage-view" data-testid="fingers-view">
        <div ref={live.cell} class="cell">
          <LiveNotices
            {...live}
            preparing="Loading the network…"
            trouble="Learned fingers are not there"
          />
          {state === "running" && <KeyCard rows={keysOf(live.sides)} testid="fingers-keys" />}
          <RecordingMark recorded={recorded} testid="fingers-recorded" />
        </div>
      </div>
      <div class="live-bar">
        <LiveChoice scene={null} />
        <Segmented
          label="Hands"
          values={Object.keys(SIDES)}
          value={hands}
          name={words}
          testid="fingers-hands"
          onChange={(value) => goTo(fingersLink(value))}
        />
        <Select
          label="Prop"
          value={live.prop.value}
          options={live.props.value.map((name) => [name, words(name)] as const)}
          testid="fingers-prop"
          isCompact
          onChange={(name) => void live.choose(name)}
        />
        {live.isFetching.value && <span class="spinner spinner-small" />}
        {live.sides.map((side, i) => (
          <button
            key={side}
            type="button"
            class="button"
            data-testid={`fingers-take-${side}`}
            title={`${words(side)} hand (${i === 0 ? "space" : "enter"})`}
            disabled={state !== "running"}
            onClick={() => live.toggle(side)}
          >
            {live.isHeld(side) ? "Let go" : "Take"}
            {live.sides.length > 1 && `, ${side}`}
          </button>
        ))}
        <ResetButton onClick={live.reset} />
        <div class="live-facts" data-testid="fingers-facts">
          {fingers && (
            <>
              <span title="Frames that were made in the last second">
                <b>{live.facts.value?.fps.toFixed(0)}</b> frames/s
              </span>
              <span title="Computing for a frame, sensors and fingers of all hands">
                <b>{fingers.milliseconds.toFixed(1)}</b> ms
              </span>
              <span title="What is shown lies this far back: the network looks ahead">
                <b>{fingers.delay.toFixed(2)}</b> s late
              </span>
              <span title="Digits and palms at the prop, as it is shown">
                <b>{fingers.hands.reduce((sum, hand) => sum + hand.touching.length, 0)}</b> touching
              </span>
              {COUNTED.filter(([key]) => fingers.counts[key]).map(([key, name, help]) => (
                <span key={key} title={help}>
                  <b>{fingers.counts[key]}</b> {name}
                </span>
              ))}
            </>
          )}
        </div>
        <span class="grow" />
        <RecordButton
          recorded={recorded}
          testid="fingers-record"
          disabled={state !== "running"}
          onClick={live.record}
        />
      </div>
    </main>
  );
}

function keysOf(sides: string[]): readonly KeyRow[] {
  if (sides.length < 2) return [["space", "take, let go"], ...KEYS];
  return [
    ["space", "right hand: take, let go"],
    ["enter", "left hand: take, let go"],
    ...KEYS,
  ];
}
