// What a live view says in place of its picture: that it gets ready, or why there is none.
import type { Signal } from "@preact/signals";

import { Notice } from "../parts/controls";

interface LiveNoticesProps {
  state: Signal<"preparing" | "running" | "trouble">;
  message: Signal<string>;
  /** What is done first. */
  preparing: string;
  /** That there is nothing to be seen. */
  trouble: string;
  reset: () => void;
}

export function LiveNotices({ state, message, preparing, trouble, reset }: LiveNoticesProps) {
  if (state.value === "preparing") {
    return (
      <Notice icon="clock" title="Getting ready" testid="live-preparing">
        <p>{message.value || preparing}</p>
        <span class="spinner" />
      </Notice>
    );
  }
  if (state.value === "running") return null;
  return (
    <Notice icon="alert" title={trouble} testid="live-trouble">
      <p>{message.value}</p>
      <button
        type="button"
        class="button"
        onPointerDown={(event) => event.stopPropagation()}
        onClick={reset}
      >
        Start again
      </button>
    </Notice>
  );
}
