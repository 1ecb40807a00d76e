// Takes a clip home: which format, how many frames a second, whose names, which parts.
import { useSignal } from "@preact/signals";

import { clipTitle } from "../data/names";
import { server } from "../data/server";
import { about } from "../data/store";
import type { ClipSummary } from "../messages";
import { Field, Segmented, Switch } from "./controls";
import { Dialog, DialogFoot } from "./Dialog";
import { Icon } from "./Icon";

type Part = "environment" | "contacts" | "forces";

interface Format {
  key: string;
  title: string;
  text: string;
  /** Whether frames can be spaced anew, and joints be named as others name them. */
  fps?: boolean;
  skeleton?: boolean;
  isFilm?: boolean;
  parts?: readonly Part[];
  needs?: "has_films" | "has_usd";
}

/** Of films, unless another is asked for. */
const FILM_FPS = 30;
const ALL: readonly Part[] = ["environment", "contacts", "forces"];
const DRAWN: readonly Part[] = ["contacts", "forces"];
const FORMATS: readonly Format[] = [
  {
    key: "glb",
    title: "glTF",
    text: "Skinned hands and bodies, for engines and editors",
    fps: true,
    skeleton: true,
    parts: ALL,
  },
  { key: "bvh", title: "BVH", text: "The skeleton's motion", fps: true, skeleton: true },
  {
    key: "usd",
    title: "USD",
    text: "A stage with skeletons and bodies",
    fps: true,
    skeleton: true,
    needs: "has_usd",
  },
  { key: "npz", title: "Clip", text: "All that handwright knows, for Python", fps: true },
  { key: "csv", title: "CSV", text: "Poses and joints, a row for each frame", fps: true },
  {
    key: "mp4",
    title: "Film",
    text: "A rendered film",
    fps: true,
    isFilm: true,
    parts: DRAWN,
    needs: "has_films",
  },
  { key: "gif", title: "GIF", text: "A moving picture", fps: true, isFilm: true, parts: DRAWN },
  { key: "png", title: "Sheet", text: "Stills of the motion on one page", parts: DRAWN },
];

const SKELETONS = ["own", "openxr", "unity", "unreal"] as const;
const NAMES = { own: "Own", openxr: "OpenXR", unity: "Unity", unreal: "Unreal" } as const;

export function ExportDialog({ clip, onClose }: { clip: ClipSummary; onClose: () => void }) {
  const format = useSignal("glb");
  const fps = useSignal("");
  const skeleton = useSignal<(typeof SKELETONS)[number]>("own");
  const parts = useSignal({ environment: true, contacts: true, forces: true });
  const isBusy = useSignal(false);
  const trouble = useSignal<string | null>(null);
  const chosen = FORMATS.find((f) => f.key === format.value)!;
  const run = async () => {
    isBusy.value = true;
    trouble.value = null;
    const query = new URLSearchParams({ format: format.value });
    if (chosen.fps && fps.value) query.set("fps", fps.value);
    if (chosen.skeleton && skeleton.value !== "own") query.set("skeleton", skeleton.value);
    for (const part of chosen.parts ?? []) query.set(part, String(parts.value[part]));
    try {
      const { name, data } = await server.exported(clip.id, query);
      save(name, data);
      onClose();
    } catch (error) {
      trouble.value = (error as Error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={`Export ${clipTitle(clip)}`} testid="export-dialog" onClose={onClose}>
      <div class="formats" role="radiogroup" aria-label="Format">
        {FORMATS.map(({ key, title, text, needs }) => {
          const isMissing = needs !== undefined && about.value?.[needs] === false;
          return (
            <button
              type="button"
              role="radio"
              key={key}
              class="format"
              aria-checked={key === format.value}
              disabled={isMissing}
              data-testid={`format-${key}`}
              onClick={() => (format.value = key)}
            >
              <strong>
                {title} <small>.{key}</small>
              </strong>
              <span>{isMissing ? "Needs an extra that is not installed" : text}</span>
            </button>
          );
        })}
      </div>
      <div class="export-options">
        {chosen.fps && (
          <Field label="Frames per second">
            <input
              type="number"
              min="1"
              max="240"
              placeholder={
                chosen.isFilm ? `${FILM_FPS} (as films have)` : `${Math.round(clip.fps)} (its own)`
              }
              value={fps.value}
              data-testid="export-fps"
              onInput={(event) => (fps.value = event.currentTarget.value)}
            />
          </Field>
        )}
        {chosen.skeleton && (
          <div class="field">
            <span class="field-label">Names of joints</span>
            <Segmented
              label="Names of joints"
              values={SKELETONS}
              value={skeleton.value}
              name={(s) => NAMES[s]}
              testid="skeleton"
              onChange={(s) => (skeleton.value = s)}
            />
          </div>
        )}
      </div>
      {chosen.parts && (
        <div class="row export-parts" role="group" aria-label="Parts">
          {chosen.parts.map((key) => (
            <Switch
              key={key}
              label={
                { environment: "Surroundings", contacts: "Contact points", forces: "Force arrows" }[
                  key
                ]
              }
              value={parts.value[key]}
              testid={`part-${key}`}
              onChange={(value) => (parts.value = { ...parts.value, [key]: value })}
            />
          ))}
        </div>
      )}
      <DialogFoot
        trouble={trouble.value}
        testid="export-run"
        isDisabled={isBusy.value}
        onRun={() => void run()}
        onClose={onClose}
      >
        {isBusy.value ? <span class="spinner" /> : <Icon name="download" />}
        {isBusy.value ? "Writing…" : `Save .${format.value}`}
      </DialogFoot>
    </Dialog>
  );
}

function save(name: string, data: Blob): void {
  const address = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
