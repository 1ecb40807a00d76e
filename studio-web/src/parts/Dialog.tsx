// A window over the page. Escape and the cross close it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { IconButton } from "./controls";

interface DialogProps {
  title: string;
  testid: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, testid, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      data-testid={testid}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="cross" label="Close" testid={`${testid}-close`} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface DialogFootProps {
  /** Why it could not be done. */
  trouble: string | null;
  testid: string;
  isDisabled: boolean;
  onRun: () => void;
  onClose: () => void;
  /** On the button that does it. */
  children: ComponentChildren;
}

/** How a dialog ends: what went wrong, a way out, and doing it. */
export function DialogFoot(props: DialogFootProps) {
  return (
    <>
      {props.trouble && (
        <p class="cell-trouble" role="alert">
          {props.trouble}
        </p>
      )}
      <footer class="dialog-foot">
        <button type="button" class="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-primary"
          data-testid={props.testid}
          disabled={props.isDisabled}
          onClick={props.onRun}
        >
          {props.children}
        </button>
      </footer>
    </>
  );
}
