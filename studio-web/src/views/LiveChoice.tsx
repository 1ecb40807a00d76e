// What is watched live: learned fingers, an arm that throws, or one of the scenes that are simulated.
import { goTo, linkTo } from "../data/route";
import { scenes } from "../data/store";
import { words } from "../parts/format";

const FINGERS = "fingers/right";
/** As `LiveChoice` names the arm that throws. */
export const THROWING = "throwing/right";

/** The address of learned fingers for a choice of hands. */
export function fingersLink(hands: string): string {
  return linkTo("live", "fingers", hands);
}

/** `scene` is the one that is shown, or `THROWING`; null for learned fingers. */
export function LiveChoice({ scene }: { scene: string | null }) {
  const able = scenes.value.filter((other) => other.is_live);
  return (
    <select
      aria-label="What is shown"
      data-testid="live-scene"
      value={scene ?? FINGERS}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value === FINGERS || value === THROWING) goTo(linkTo("live", ...value.split("/")));
        else goTo(linkTo("live", value));
      }}
    >
      <option value={FINGERS}>Learned fingers</option>
      <option value={THROWING}>Throwing</option>
      <optgroup label="Simulated scenes">
        {able.map(({ name }) => (
          <option key={name} value={name}>
            {words(name)}
          </option>
        ))}
      </optgroup>
    </select>
  );
}
