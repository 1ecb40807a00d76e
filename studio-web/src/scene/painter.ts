// One canvas for all views: each is drawn into its own rectangle, and only when something changed.
import {
  NeutralToneMapping,
  type Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  Vector3,
  VSMShadowMap,
  WebGLRenderer,
} from "three";

import type { ClipModel } from "./model";
import { openContext, quality } from "./quality";
import { type Frame, Rig } from "./rig";
import { standIns } from "./standIns";
import { World } from "./world";

/** A rectangle of the page with a clip in it. */
export interface View {
  element: HTMLElement;
  model: ClipModel;
  frame: Frame;
  /** Drawn only in this view. */
  extras: Object3D[];
  /** Where the camera is moved to, m, when it follows something. */
  offset?: () => Vector3;
}

const STILL = new Vector3();
/** ms between looks at whether a picture is drawn. */
const LOOK_EVERY = 4;

export class Painter {
  readonly canvas = document.createElement("canvas");
  readonly rig: Rig;
  readonly world: World;
  /** Of the view that was drawn last; for picking and gizmos, where there is one view. */
  readonly camera = new PerspectiveCamera();
  /** Called before each picture with the seconds since the last; true asks for another. */
  onTick: (seconds: number) => boolean = () => false;
  onDrawn: () => void = () => undefined;
  private readonly renderer: WebGLRenderer;
  private views: View[] = [];
  private wanted = 0;
  private last = 0;
  private isEmpty = true;
  private container: HTMLElement | null = null;
  private readonly sizes = new ResizeObserver(() => this.invalidate());

  constructor() {
    const context = openContext(this.canvas);
    if (!context) throw new Error("This browser draws nothing in three dimensions (no WebGL 2).");
    this.renderer = new WebGLRenderer({ canvas: this.canvas, context });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = quality() === "full" ? VSMShadowMap : PCFShadowMap;
    this.renderer.setScissorTest(true);
    this.canvas.className = "painter";
    this.canvas.setAttribute("aria-hidden", "true");
    this.rig = new Rig(() => this.invalidate());
    this.world = new World(this.renderer);
    void this.rehearse();
  }

  /** Moves the canvas into a container, which must be positioned; its views are inside it. */
  attach(container: HTMLElement): void {
    this.sizes.disconnect();
    this.container = container;
    container.append(this.canvas);
    this.rig.attach(container);
    this.sizes.observe(container);
    this.invalidate();
  }

  detach(container: HTMLElement): void {
    if (this.container !== container) return;
    this.sizes.disconnect();
    this.rig.detach();
    this.canvas.remove();
    this.setViews([]);
    this.container = null;
    this.onTick = () => false;
    this.onDrawn = () => undefined;
  }

  setViews(views: View[]): void {
    for (const { model, extras } of this.views) {
      model.root.removeFromParent();
      for (const extra of extras) extra.removeFromParent();
    }
    this.views = views;
    // Cells that came later would cover it.
    if (this.container && this.container.lastElementChild !== this.canvas)
      this.container.append(this.canvas);
    for (const { model, extras } of views) {
      this.world.add(model.root);
      for (const extra of extras) this.world.add(extra);
    }
    this.invalidate();
  }

  setTheme(isDark: boolean): void {
    this.world.setTheme(isDark);
    this.invalidate();
  }

  invalidate(): void {
    if (this.wanted !== 0) return;
    this.wanted = requestAnimationFrame((now) => this.tick(now));
  }

  /** Draws a point of each kind of surface, unseen, while nothing is there to be shown. */
  private async rehearse(): Promise<void> {
    const group = standIns();
    const frame = { middle: new Vector3(), distance: 1, turn: 0 };
    this.world.add(group);
    this.world.aim({ floor: 0, hasTable: true }, frame);
    this.rig.place(this.camera, frame, 1, STILL);
    const learnt = this.renderer.compileAsync(this.world.scene, this.camera);
    group.visible = false;
    await learnt;
    if (this.views.length === 0) {
      group.visible = true;
      this.renderer.setViewport(0, 0, 1, 1);
      this.renderer.setScissor(0, 0, 1, 1);
      this.renderer.render(this.world.scene, this.camera);
    }
    group.removeFromParent();
  }

  /** Once all that was asked of the graphics card, or of its stand-in, is drawn. */
  async finished(): Promise<void> {
    const context = this.renderer.getContext() as WebGL2RenderingContext;
    const fence = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    context.flush();
    while (context.clientWaitSync(fence, 0, 0) === context.TIMEOUT_EXPIRED)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
    context.deleteSync(fence);
  }

  private tick(now: number): void {
    this.wanted = 0;
    if (!this.container) return;
    const passed = this.last === 0 ? 0 : Math.min((now - this.last) / 1000, 0.25);
    const goesOn = this.onTick(passed);
    this.draw();
    // A pause is no passed time.
    this.last = goesOn ? now : 0;
    if (goesOn) this.invalidate();
    this.onDrawn();
  }

  private draw(): void {
    const box = this.container!.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return;
    // Even nothing takes time to draw, and the first clips may be waiting.
    if (this.views.length === 0 && this.isEmpty) return;
    this.isEmpty = this.views.length === 0;
    this.fitCanvas(box);
    const { renderer } = this;
    renderer.setScissor(0, 0, box.width, box.height);
    // What was drawn last may have left another colour.
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    for (const shown of this.views) this.show(shown, false);
    for (const view of this.views) this.drawView(view, box);
  }

  private drawView(view: View, box: DOMRect): void {
    const cell = view.element.getBoundingClientRect();
    if (cell.width < 2 || cell.height < 2) return;
    const left = cell.left - box.left;
    const bottom = box.bottom - cell.bottom;
    this.renderer.setViewport(left, bottom, cell.width, cell.height);
    this.renderer.setScissor(left, bottom, cell.width, cell.height);
    this.show(view, true);
    this.world.aim(view.model, view.frame);
    this.rig.place(this.camera, view.frame, cell.width / cell.height, view.offset?.() ?? STILL);
    this.renderer.render(this.world.scene, this.camera);
    this.show(view, false);
  }

  private show(view: View, isShown: boolean): void {
    view.model.root.visible = isShown;
    for (const extra of view.extras) extra.visible = isShown;
  }

  private fitCanvas(box: DOMRect): void {
    // Above two the eye gains little and twelve views lose much.
    const ratio = Math.min(window.devicePixelRatio, 2);
    const { width, height } = this.canvas;
    if (width === Math.floor(box.width * ratio) && height === Math.floor(box.height * ratio))
      return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(box.width, box.height);
  }
}

let only: Painter | null = null;

/** The page's painter: browsers allow few canvases of this kind, so views share it. */
export function painter(): Painter {
  only ??= new Painter();
  return only;
}
