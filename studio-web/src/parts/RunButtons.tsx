// What stops, goes on with and begins again all that runs by itself.
import { IconButton } from "./controls";

export function PauseButton(props: { isPaused: boolean; disabled: boolean; onClick: () => void }) {
  return (
    <IconButton
      icon={props.isPaused ? "play" : "pause"}
      label={props.isPaused ? "Go on" : "Pause"}
      keys="space"
      testid="live-pause"
      class="play-button"
      disabled={props.disabled}
      onClick={props.onClick}
    />
  );
}

export function ResetButton({ onClick }: { onClick: () => void }) {
  return (
    <IconButton
      icon="reset"
      label="Start again"
      keys="R"
      testid="live-reset"
      onClick={onClick}
    />
  );
}
