import { dismiss, toasts } from "../data/toasts";
import { IconButton } from "./controls";
import { Icon } from "./Icon";

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div class={`toast toast-${tone}`} key={id} data-testid="toast" data-tone={tone}>
          <Icon name={tone === "bad" ? "alert" : "check"} />
          <p>{text}</p>
          <IconButton
            icon="cross"
            label="Dismiss"
            testid="toast-close"
            onClick={() => dismiss(id)}
          />
        </div>
      ))}
    </div>
  );
}
