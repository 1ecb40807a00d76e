// Frames that come faster than they can be drawn, or that show nothing new, are passed over.
import type { LiveFrame } from "../messages";
import { painter } from "./painter";

/** Changes that nobody sees, m and parts of quaternions. */
const UNSEEN = 4e-4;

/** Numbers of which none has changed where a picture has not. */
export function numbersOf(frame: LiveFrame, more: LiveFrame["bodies"] = []): number[] {
  const bodies = [...frame.bodies, ...more];
  // Names count by their order: another prop is another picture.
  const names = bodies.map(({ name }) => [...name].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7));
  return [
    ...names,
    ...bodies.flatMap(({ position, xyzw }) => [...position, ...xyzw]),
    ...frame.hands.flatMap(({ position, xyzw, joints }) => [...position, ...xyzw, ...joints.flat()]),
  ];
}

export class Pace {
  private isDrawing = false;
  private drawn: number[] = [];
  private wanted: number[] | null = null;

  /** The next picture is drawn whatever it shows. */
  forget(): void {
    this.drawn = [];
  }

  /** Asks for a picture of some numbers, once the one before is finished. */
  ask(numbers: number[]): void {
    this.wanted = numbers;
    this.draw();
  }

  /** To be called when a picture was drawn. */
  wasDrawn(): void {
    void painter()
      .finished()
      .then(() => {
        this.isDrawing = false;
        this.draw();
      });
  }

  private draw(): void {
    const { wanted } = this;
    if (this.isDrawing || !wanted) return;
    if (wanted.every((value, i) => Math.abs(value - (this.drawn[i] ?? Infinity)) < UNSEEN)) return;
    this.drawn = wanted;
    this.isDrawing = true;
    painter().invalidate();
  }
}
