// The clips that were picked, until there are two.
import { clipTitle } from "../data/names";
import { linkTo } from "../data/route";
import { clipById } from "../data/store";
import { picked, togglePicked } from "../data/wall";
import { IconButton } from "../parts/controls";

export function CompareTray() {
  const chosen = picked.value.flatMap((id) => clipById(id) ?? []);
  const [first, second] = chosen;
  if (!first) return null;
  return (
    <div class="tray" data-testid="compare-tray" role="status">
      {chosen.map((clip) => (
        <span class="tray-item" key={clip.id}>
          {clipTitle(clip)}
          <IconButton
            icon="cross"
            label="Pick no longer"
            testid="unpick"
            onClick={() => togglePicked(clip.id)}
          />
        </span>
      ))}
      {second ? (
        <a
          class="button button-primary"
          data-testid="compare"
          href={linkTo("compare", first.id, second.id)}
        >
          Compare
        </a>
      ) : (
        <span class="muted">Pick one more to compare</span>
      )}
    </div>
  );
}
