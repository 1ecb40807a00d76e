// How much a picture may cost. Without a graphics card the processor draws, and shadows and
// reflections take seconds; such machines get a plainer look. `?look=full` in the address, or
// `?look=plain`, decides otherwise.

export type Quality = "full" | "plain";

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export function chooseQuality(context: WebGL2RenderingContext | WebGLRenderingContext): Quality {
  const asked = new URLSearchParams(location.search).get("look");
  if (asked === "full" || asked === "plain") return asked;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  return SOFTWARE.test(name) ? "plain" : "full";
}

let current: Quality = "full";

export function quality(): Quality {
  return current;
}

export function setQuality(chosen: Quality): void {
  current = chosen;
}
