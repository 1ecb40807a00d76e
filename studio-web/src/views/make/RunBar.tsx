// Sends the request and goes to the wall, where solutions arrive.
import { useSignal } from "@preact/signals";

import { draft, pinning, requestOf } from "../../data/draft";
import { goTo, linkTo } from "../../data/route";
import { server } from "../../data/server";
import { putJob } from "../../data/store";
import { Icon } from "../../parts/Icon";

export function RunBar() {
  const isBusy = useSignal(false);
  const trouble = useSignal<string | null>(null);
  const run = async () => {
    isBusy.value = true;
    trouble.value = null;
    try {
      const job = await server.start(requestOf(draft.value));
      putJob(job);
      pinning.value = null;
      goTo(`${linkTo("wall")}?job=${encodeURIComponent(job.id)}`);
    } catch (error) {
      trouble.value = (error as Error).message;
    }
    isBusy.value = false;
  };
  return (
    <footer class="run-bar">
      {trouble.value && (
        <p class="cell-trouble" role="alert" data-testid="run-trouble">
          {trouble.value}
        </p>
      )}
      <button
        type="button"
        class="button button-primary button-large"
        data-testid="run"
        disabled={isBusy.value}
        onClick={() => void run()}
      >
        {isBusy.value ? <span class="spinner" /> : <Icon name="make" />}
        Find motions
      </button>
    </footer>
  );
}
