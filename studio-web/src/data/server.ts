// What the page asks of the server. Paths are relative: the page may be served under a prefix.
import type {
  About,
  ClipSummary,
  Comparison,
  JobInfo,
  JobRequest,
  MethodInfo,
  SceneFromTracks,
  SceneInfo,
  ShapeInfo,
  Timeline,
  Trouble,
  Upload,
} from "../messages";

/** The server refused; the message says what to do. */
export class Refusal extends Error {}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`api/${path}`, init);
  } catch {
    throw new Refusal("The studio's server does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try {
    message = (JSON.parse(text) as Trouble).message ?? text;
  } catch {
    // Not one of our own answers; its text is all there is.
  }
  throw new Refusal(message || `${answer.status} ${answer.statusText}`);
}

async function get<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T;
}

async function send<T>(method: string, path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await (await ask(path, { method, headers, body: JSON.stringify(body) })).json()) as T;
}

const id = encodeURIComponent;

export const server = {
  about: () => get<About>("about"),
  scenes: () => get<SceneInfo[]>("scenes"),
  methods: () => get<MethodInfo[]>("methods"),
  shapes: () => get<ShapeInfo[]>("shapes"),
  clips: () => get<ClipSummary[]>("clips"),
  jobs: () => get<JobInfo[]>("jobs"),
  timeline: (clip: string) => get<Timeline>(`clips/${id(clip)}/timeline`),
  comparison: (first: string, second: string) =>
    get<Comparison>(`compare?first=${id(first)}&second=${id(second)}`),
  model: async (clip: string) => (await ask(`clips/${id(clip)}/model.glb`)).arrayBuffer(),
  sceneModel: async (scene: string) => (await ask(`scenes/${id(scene)}/model.glb`)).arrayBuffer(),
  props: () => get<string[]>("props"),
  propModel: async (prop: string) => (await ask(`props/${id(prop)}/model.glb`)).arrayBuffer(),
  binary: async (path: string) => (await ask(path.replace(/^\/?api\//, ""))).arrayBuffer(),
  favour: (clip: string, isFavourite: boolean) =>
    send<ClipSummary>("PUT", `clips/${id(clip)}/favourite`, { is_favourite: isFavourite }),
  remove: async (clip: string) => void (await ask(`clips/${id(clip)}`, { method: "DELETE" })),
  start: (request: JobRequest) => send<JobInfo>("POST", "jobs", request),
  cancel: async (job: string) => void (await ask(`jobs/${id(job)}`, { method: "DELETE" })),
  upload: async (file: File): Promise<Upload> => {
    const headers = { "Content-Type": "application/octet-stream" };
    const path = `uploads?name=${id(file.name)}`;
    return (await (await ask(path, { method: "POST", headers, body: file })).json()) as Upload;
  },
  makeScene: (scene: SceneFromTracks) => send<SceneInfo>("POST", "scenes", scene),
  /** A download; errors are thrown before anything is saved. */
  exported: async (clip: string, query: URLSearchParams): Promise<{ name: string; data: Blob }> => {
    const answer = await ask(`clips/${id(clip)}/export?${query}`);
    const named = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "");
    return { name: named?.[1] ?? `${clip}.${query.get("format")}`, data: await answer.blob() };
  },
};
