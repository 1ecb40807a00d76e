// A recording of what is shown live: how long it is, and the button that begins and ends it.
import { Icon } from "./Icon";

/** Seconds that are recorded; null while nothing is. */
interface RecordingProps {
  recorded: number | null;
  testid: string;
}

export function RecordingMark({ recorded, testid }: RecordingProps) {
  if (recorded === null) return null;
  return (
    <span class="recording" data-testid={testid}>
      <Icon name="record" /> {recorded.toFixed(1)} s
    </span>
  );
}

interface RecordButtonProps extends RecordingProps {
  disabled: boolean;
  onClick: () => void;
}

export function RecordButton({ recorded, testid, disabled, onClick }: RecordButtonProps) {
  return (
    <button
      type="button"
      class={`button ${recorded === null ? "" : "button-recording"}`}
      data-testid={testid}
      title="Record what is shown to a clip (C)"
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={recorded === null ? "record" : "stop"} />
      {recorded === null ? "Record" : "Stop and save"}
    </button>
  );
}
