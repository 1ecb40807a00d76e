// Numbers and names as people read them.
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  // Far below what any figure of a motion means; digits of it would only be noise.
  if (size < 1e-6) return "≈ 0";
  if (size >= 1e6) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

export function withUnit(value: number | null | undefined, unit: string): string {
  return unit && value !== null && value !== undefined ? `${number(value)} ${unit}` : number(value);
}

/** `milk_box_turn` as `Milk box turn`. */
export function words(name: string): string {
  const text = name.replace(/[_.]+/g, " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

export function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
