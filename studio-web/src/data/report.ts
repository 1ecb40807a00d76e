// The clips that a report holds, in the place of a server.
import type { ReportData } from "../messages";
import { setSource } from "./source";
import { clips, hasServer, isLoaded, trouble } from "./store";

/** Reads what Python has put into the page; null, and a reason, if that cannot be read. */
export function loadReport(): ReportData | null {
  hasServer.value = false;
  const text = document.getElementById("handwright-report")?.textContent ?? "";
  let data: ReportData;
  try {
    data = JSON.parse(text) as ReportData;
  } catch {
    trouble.value = "This file holds no clips. Make it anew with `handwright report DIR out.html`.";
    return null;
  }
  const byId = new Map(data.clips.map((clip) => [clip.summary.id, clip]));
  const find = (id: string) => {
    const clip = byId.get(id);
    if (!clip) throw new Error(`There is no clip ${id} in this report.`);
    return clip;
  };
  setSource({
    model: async (id) => bytes(find(id).model),
    timeline: async (id) => find(id).timeline,
    comparison: null,
  });
  clips.value = data.clips.map((clip) => clip.summary);
  isLoaded.value = true;
  return data;
}

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const array = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) array[i] = text.charCodeAt(i);
  return array.buffer;
}
