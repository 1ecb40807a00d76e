// Which problem, or a file with one.
import { useSignal } from "@preact/signals";

import { chooseScene, draft, draftScene, uploads } from "../../data/draft";
import { server } from "../../data/server";
import { attempt, methods, scenes } from "../../data/store";
import { tell } from "../../data/toasts";
import type { Upload } from "../../messages";
import { Icon } from "../../parts/Icon";
import { number, sentence, words } from "../../parts/format";
import { Group } from "../FilterPanel";
import { TracksDialog } from "./TracksDialog";

const ACCEPTED = ".obj,.stl,.ply,.off,.glb,.npz,.bvh,.csv,.yaml,.yml";

export function SceneChooser() {
  const tracks = useSignal<Upload | null>(null);
  const scene = draftScene.value;
  const take = (file: File | undefined) =>
    file &&
    void attempt(async () => {
      const upload = await server.upload(file);
      uploads.value = [...uploads.value.filter((old) => old.id !== upload.id), upload];
      tell(`${upload.name}: ${upload.summary}`);
      if (upload.scene !== null) {
        scenes.value = await server.scenes();
        chooseScene(upload.scene);
      } else if (upload.tracks.length > 0) {
        tracks.value = upload;
      }
    });
  return (
    <Group title="Scene">
      <select
        aria-label="Scene"
        data-testid="scene"
        value={draft.value.scene}
        onChange={(event) => chooseScene(event.currentTarget.value)}
      >
        {groups().map(([title, names]) => (
          <optgroup key={title} label={title}>
            {names.map((name) => (
              <option key={name} value={name}>
                {words(name)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      {scene && (
        <p class="muted scene-summary">
          {sentence(scene.summary)} {number(scene.duration)} s.
        </p>
      )}
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          take(event.dataTransfer?.files[0]);
        }}
      >
        <Icon name="upload" />
        <span>
          Bring a mesh, tracks or goals
          <small>.obj .stl .ply .glb · .bvh .csv .npz · .yaml</small>
        </span>
        <input
          type="file"
          accept={ACCEPTED}
          data-testid="upload"
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </label>
      {tracks.value && <TracksDialog upload={tracks.value} onClose={() => (tracks.value = null)} />}
    </Group>
  );
}

function groups(): [string, string[]][] {
  const titles = new Map(methods.value.map((method) => [method.name, method.title]));
  const found = new Map<string, string[]>();
  for (const { name, method, is_uploaded } of scenes.value) {
    const title = is_uploaded ? "Brought by you" : (titles.get(method) ?? words(method));
    found.set(title, [...(found.get(title) ?? []), name]);
  }
  return [...found];
}
