// How much a picture may cost. Without a graphics card the processor draws, and shadows, smooth
// edges and reflections take seconds; such machines get a plainer look. `?look=full` in the
// address, or `?look=plain`, decides otherwise.

export type Quality = "full" | "plain";

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
let current: Quality = "full";

export function quality(): Quality {
  return current;
}

/** Opens a canvas for drawing, as well as the machine can; null where it cannot at all. */
export function openContext(canvas: HTMLCanvasElement): WebGL2RenderingContext | null {
  const asked = new URLSearchParams(location.search).get("look");
  const wishes = { alpha: true, antialias: true };
  // Whether edges are smooth is settled with the context, so a card is asked for first.
  const card = canvas.getContext("webgl2", { ...wishes, failIfMajorPerformanceCaveat: true });
  if (asked === "full" || asked === "plain") current = asked;
  else current = card && !SOFTWARE.test(nameOf(card)) ? "full" : "plain";
  return card ?? canvas.getContext("webgl2", { ...wishes, antialias: current === "full" });
}

function nameOf(context: WebGL2RenderingContext): string {
  const info = context.getExtension("WEBGL_debug_renderer_info");
  return info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
}
