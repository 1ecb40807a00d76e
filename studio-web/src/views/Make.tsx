// Asks for motions: a scene, what is different about it, and how to look.
import { useEffect } from "preact/hooks";

import { chooseScene, draft, draftScene, startFrom } from "../data/draft";
import { markReady, route } from "../data/route";
import { clipById, isLoaded, scenes } from "../data/store";
import { Notice } from "../parts/controls";
import { Transport } from "../parts/Transport";
import { BodyForms, HandForms } from "./make/BodyForms";
import { GoalForm } from "./make/GoalForm";
import { MethodForm } from "./make/MethodForm";
import { PinForm } from "./make/PinForm";
import { RunBar } from "./make/RunBar";
import { SceneChooser } from "./make/SceneChooser";
import { ScenePreview } from "./make/ScenePreview";

export function Make() {
  const asked = route.value.query;
  const isKnown = scenes.value.length > 0;
  useEffect(() => {
    if (!isKnown) return;
    const clip = clipById(asked.get("clip") ?? "");
    if (clip) startFrom(clip);
    else if (asked.get("scene")) chooseScene(asked.get("scene")!);
    else if (!draft.value.scene) chooseScene(scenes.value[0]!.name);
  }, [isKnown, asked]);
  const scene = draftScene.value;
  const isUnknown = isKnown && draft.value.scene !== "" && !scene;
  useEffect(() => {
    if (isUnknown) markReady("editor");
  }, [isUnknown]);
  if (!isKnown) {
    return (
      <main class="center">
        <Notice icon="clock" title={isLoaded.value ? "Reading the scenes…" : "Loading…"} />
      </main>
    );
  }
  return (
    <main class="stage make" data-testid="editor">
      <section class="stage-main">
        {scene ? (
          <ScenePreview key={scene.name} scene={scene} />
        ) : (
          <Notice icon="alert" title={`There is no scene ${draft.value.scene}`}>
            <p>The clip came from elsewhere. Choose another scene on the right.</p>
          </Notice>
        )}
        <Transport />
      </section>
      <aside class="panel side make-side" aria-label="What is wanted">
        <div class="make-form">
          <SceneChooser />
          {scene && (
            <>
              <MethodForm />
              <BodyForms scene={scene} />
              <PinForm scene={scene} />
              <GoalForm scene={scene} />
              <HandForms scene={scene} />
            </>
          )}
        </div>
        {scene && <RunBar />}
      </aside>
    </main>
  );
}
