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
