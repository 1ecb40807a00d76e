// Makes a scene of uploaded tracks: which moves the hand, which the body, and what the body is.
import { useSignal } from "@preact/signals";

import { chooseScene, uploads } from "../../data/draft";
import { server } from "../../data/server";
import { scenes, shapes } from "../../data/store";
import type { Upload } from "../../messages";
import { Field, Select } from "../../parts/controls";
import { Dialog, DialogFoot } from "../../parts/Dialog";
import { words } from "../../parts/format";

export function TracksDialog({ upload, onClose }: { upload: Upload; onClose: () => void }) {
  const name = useSignal(upload.name.replace(/\.[^.]+$/, "").replace(/[^A-Za-z0-9_-]+/g, "_"));
  const isOfHand = (track: string) => /hand|wrist/i.test(track);
  const hand = useSignal(upload.tracks.find(isOfHand) ?? upload.tracks[0] ?? "");
  const body = useSignal(upload.tracks.find((track) => track !== hand.value) ?? "");
  const mass = useSignal("0.3");
  const friction = useSignal("0.8");
  const meshes = uploads.value.filter((other) => other.kind === "mesh");
  const look = useSignal(
    meshes[0] ? `mesh:${meshes[0].id}` : `shape:${shapes.value[0]?.name ?? "box"}`,
  );
  const trouble = useSignal<string | null>(null);
  const make = async () => {
    const [kind, chosen = ""] = look.value.split(/:(.*)/);
    try {
      const scene = await server.makeScene({
        name: name.value,
        tracks: upload.id,
        hand: hand.value,
        body: body.value,
        mesh: kind === "mesh" ? chosen : null,
        shape: kind === "shape" ? chosen : null,
        mass: Number(mass.value),
        friction: Number(friction.value),
      });
      scenes.value = [...scenes.value.filter((old) => old.name !== scene.name), scene];
      chooseScene(scene.name);
      onClose();
    } catch (error) {
      trouble.value = (error as Error).message;
    }
  };
  const text = (label: string, value: typeof name, testid: string) => (
    <Field label={label}>
      <input
        type="text"
        value={value.value}
        data-testid={testid}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
    </Field>
  );
  const track = (label: string, value: typeof name, testid: string) => (
    <Select
      label={label}
      testid={testid}
      value={value.value}
      options={upload.tracks.map((t) => [t, t] as const)}
      onChange={(t) => (value.value = t)}
    />
  );
  return (
    <Dialog title="A scene from tracks" testid="tracks-dialog" onClose={onClose}>
      <p class="muted">{upload.summary}</p>
      <div class="export-options">
        {text("Name of the scene", name, "tracks-name")}
        <Select
          label="The body looks like"
          testid="tracks-body-look"
          value={look.value}
          options={[
            ...meshes.map((mesh) => [`mesh:${mesh.id}`, mesh.name] as const),
            ...shapes.value.map((shape) => [`shape:${shape.name}`, words(shape.name)] as const),
          ]}
          onChange={(value) => (look.value = value)}
        />
        {track("Track of the wrist", hand, "tracks-hand")}
        {track("Track of the body", body, "tracks-body")}
        {text("Mass, kg", mass, "tracks-mass")}
        {text("Friction", friction, "tracks-friction")}
      </div>
      <DialogFoot
        trouble={trouble.value}
        testid="tracks-make"
        isDisabled={!hand.value || !body.value}
        onRun={() => void make()}
        onClose={onClose}
      >
        Make the scene
      </DialogFoot>
    </Dialog>
  );
}
