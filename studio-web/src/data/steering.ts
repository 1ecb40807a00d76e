// Keys that are held to move and turn something, relative to the camera.
import { type Camera, Vector3 } from "three";

import type { Shortcut } from "./keys";

/** m/s and rad/s. */
const [PACE, SPIN] = [0.3, 1.4];
/** s; a page that was asleep makes no leap, and no tap is too short to count. */
const [LONGEST, SHORTEST] = [0.25, 1 / 30];

type Triple = [number, number, number];

interface Held {
  keys: string[];
  label: string;
  /** To the right, up, and away from the camera. */
  shift?: Triple;
  /** About the axes to the right, up, and away from the camera. */
  turn?: Triple;
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
  /** Since when each key is down that has not been reckoned, s. */
  private readonly held = new Map<Held, number>();
  /** For how long keys were down that are up again, s. */
  private readonly owed = new Map<Held, number>();
  private readonly raised = (event: KeyboardEvent) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    for (const row of TABLE) {
      if (!row.keys.includes(key) || !this.held.has(row)) continue;
      this.owed.set(row, this.lasted(row, SHORTEST));
      this.held.delete(row);
    }
  };
  private readonly left = () => this.held.clear();

  /** `turns` is whether there are keys to turn it, too. */
  constructor(private readonly turns = true) {
    addEventListener("keyup", this.raised);
    addEventListener("blur", this.left);
  }

  get shortcuts(): Shortcut[] {
    return TABLE.filter((row) => this.turns || row.shift).map((row) => ({
      keys: row.keys,
      label: row.label,
      does: () => {
        if (!this.held.has(row)) this.held.set(row, performance.now() / 1000);
      },
    }));
  }

  /** What the keys ask for since this was last called, in the world; null if nothing. */
  take(camera: Camera): { shift: Vector3; turn: Vector3 } | null {
    for (const row of this.held.keys()) {
      this.owed.set(row, this.lasted(row, 0));
      this.held.set(row, performance.now() / 1000);
    }
    if (this.owed.size === 0) return null;
    const away = camera.getWorldDirection(new Vector3()).setY(0).normalize();
    const up = new Vector3(0, 1, 0);
    const right = away.clone().cross(up);
    const sum = (pick: (row: Held) => Triple | undefined, rate: number) => {
      const found = new Vector3();
      for (const [row, passed] of this.owed) {
        const [x, y, z] = (pick(row) ?? [0, 0, 0]).map((part) => rate * passed * part) as Triple;
        found.addScaledVector(right, x).addScaledVector(up, y).addScaledVector(away, z);
      }
      return found;
    };
    const wish = { shift: sum((row) => row.shift, PACE), turn: sum((row) => row.turn, SPIN) };
    this.owed.clear();
    return wish;
  }

  private lasted(row: Held, least: number): number {
    const since = this.held.get(row) ?? 0;
    const passed = Math.min(Math.max(performance.now() / 1000 - since, least), LONGEST);
    return (this.owed.get(row) ?? 0) + passed;
  }

  dispose(): void {
    removeEventListener("keyup", this.raised);
    removeEventListener("blur", this.left);
  }
}
