// Small controls that every view uses.
import type { ComponentChildren } from "preact";

import { Icon, type IconName } from "./Icon";

interface IconButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  testid?: string;
  isOn?: boolean;
  filled?: boolean;
  keys?: string;
  disabled?: boolean;
  class?: string;
}

/** A button with a picture; its name is read aloud, and shown when the pointer rests on it. */
export function IconButton(props: IconButtonProps) {
  const { icon, label, isOn, keys } = props;
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ""}`}
      aria-label={label}
      aria-pressed={isOn}
      title={keys ? `${label} (${keys})` : label}
      data-testid={props.testid}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <Icon name={icon} filled={props.filled ?? false} />
    </button>
  );
}

interface ChoiceProps<T extends string | number> {
  label: string;
  values: readonly T[];
  value: T;
  onChange: (value: T) => void;
  testid: string;
  name?: (value: T) => string;
}

/** A few values side by side, one of which holds. */
export function Segmented<T extends string | number>(props: ChoiceProps<T>) {
  return (
    <div class="segmented" role="radiogroup" aria-label={props.label}>
      {props.values.map((value) => (
        <button
          type="button"
          role="radio"
          key={value}
          aria-checked={value === props.value}
          data-testid={`${props.testid}-${value}`}
          onClick={() => props.onChange(value)}
        >
          {props.name?.(value) ?? value}
        </button>
      ))}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
  testid: string;
  isCompact?: boolean;
}

export function Select({ label, value, options, onChange, testid, isCompact }: SelectProps) {
  const field = (
    <select
      value={value}
      aria-label={label}
      data-testid={testid}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
  return isCompact ? field : <Field label={label}>{field}</Field>;
}

interface FieldProps {
  label: string;
  help?: string;
  children: ComponentChildren;
}

export function Field({ label, help, children }: FieldProps) {
  return (
    <label class="field" title={help}>
      <span class="field-label">{label}</span>
      {children}
    </label>
  );
}

interface SwitchProps {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  testid: string;
  help?: string;
}

export function Switch({ label, value, onChange, testid, help }: SwitchProps) {
  return (
    <label class="switch" title={help}>
      <input
        type="checkbox"
        role="switch"
        checked={value}
        data-testid={testid}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="switch-track" aria-hidden="true" />
      <span>{label}</span>
    </label>
  );
}

interface NoticeProps {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
  testid?: string;
}

/** What is shown where there is nothing, or something went wrong. */
export function Notice({ icon, title, children, testid }: NoticeProps) {
  return (
    <div class="notice" role="status" data-testid={testid}>
      <span class="notice-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      <div class="notice-text">{children}</div>
    </div>
  );
}
