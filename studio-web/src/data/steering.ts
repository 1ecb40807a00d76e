// Keys that are held to move and turn a prop, relative to the camera.
import { type Camera, Vector3 } from "three";

import type { Shortcut } from "./keys";

/** m/s and rad/s. */
const [PACE, SPIN] = [0.3, 1.4];
/** s; a page that was asleep makes no leap. */
const LONGEST = 0.25;

interface Held {
  keys: string[];
  label: string;
  /** To the right, up, and away from the camera. */
  shift?: [number, number, number];
  /** About the axes to the right, up, and away from the camera. */
  turn?: [number, number, number];
}

const TABLE: Held[] = [
  { keys: ["a", "ArrowLeft"], label: "Move left", shift: [-1, 0, 0] },
  { keys: ["d", "ArrowRight"], label: "Move right", shift: [1, 0, 0] },
  { keys: ["w", "ArrowUp"], label: "Move away", shift: [0, 0, 1] },
  { keys: ["s", "ArrowDown"], label: "Move nearer", shift: [0, 0, -1] },
  { keys: ["e"], label: "Lift", shift: [0, 1, 0] },
  { keys: ["q"], label: "Lower", shift: [0, -1, 0] },
  { keys: ["j"], label: "Turn left", turn: [0, 1, 0] },
  { keys: ["l"], label: "Turn right", turn: [0, -1, 0] },
  { keys: ["i"], label: "Tip away", turn: [-1, 0, 0] },
  { keys: ["k"], label: "Tip nearer", turn: [1, 0, 0] },
  { keys: ["u"], label: "Lean left", turn: [0, 0, -1] },
  { keys: ["o"], label: "Lean right", turn: [0, 0, 1] },
];

export class Steering {
  private readonly held = new Set<Held>();
  private last = 0;
  private readonly raised = (event: KeyboardEvent) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    for (const row of TABLE) if (row.keys.includes(key)) this.held.delete(row);
  };
  private readonly left = () => this.held.clear();

  constructor() {
    addEventListener("keyup", this.raised);
    addEventListener("blur", this.left);
  }

  get shortcuts(): Shortcut[] {
    return TABLE.map((row) => ({
      keys: row.keys,
      label: row.label,
      does: () => {
        if (this.held.size === 0) this.last = performance.now() / 1000;
        this.held.add(row);
      },
    }));
  }

  /** What the keys ask for since this was last called, in the world; null if nothing. */
  take(camera: Camera): { shift: Vector3; turn: Vector3 } | null {
    if (this.held.size === 0) return null;
    const now = performance.now() / 1000;
    const passed = Math.min(now - this.last, LONGEST);
    this.last = now;
    const away = camera.getWorldDirection(new Vector3()).setY(0).normalize();
    const up = new Vector3(0, 1, 0);
    const right = away.clone().cross(up);
    const sum = (pick: (row: Held) => [number, number, number] | undefined, rate: number) => {
      const found = new Vector3();
      for (const row of this.held) {
        const [x, y, z] = pick(row) ?? [0, 0, 0];
        found.addScaledVector(right, x).addScaledVector(up, y).addScaledVector(away, z);
      }
      return found.multiplyScalar(rate * passed);
    };
    return { shift: sum((row) => row.shift, PACE), turn: sum((row) => row.turn, SPIN) };
  }

  dispose(): void {
    removeEventListener("keyup", this.raised);
    removeEventListener("blur", this.left);
  }
}
