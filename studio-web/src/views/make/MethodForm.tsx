// How to look for motions; the form is made from what the method says of its settings.
import { change, draft, draftMethod, draftScene, setSetting, type Value } from "../../data/draft";
import { methods } from "../../data/store";
import type { Setting } from "../../messages";
import { Field, Segmented, Select, Switch } from "../../parts/controls";
import { words } from "../../parts/format";
import { Group } from "../FilterPanel";

export function MethodForm() {
  const method = draftMethod.value;
  const usual = draftScene.value?.method;
  if (!method) return null;
  const basic = method.settings.filter((setting) => setting.is_basic);
  const others = method.settings.filter((setting) => !setting.is_basic);
  const changed = others.filter((setting) => setting.name in draft.value.settings).length;
  return (
    <Group title="Method">
      <Select
        label="Method"
        isCompact
        testid="method"
        value={draft.value.method}
        options={[
          ["", `${methods.value.find((m) => m.name === usual)?.title ?? usual} (suits it)`],
          ...methods.value.filter((m) => m.name !== usual).map((m) => [m.name, m.title] as const),
        ]}
        onChange={(value) => change({ method: value, settings: {} })}
      />
      {method.paper && <p class="muted paper">{method.paper}</p>}
      <div class="pairs-grid">
        {basic.map((setting) => (
          <SettingField key={setting.name} setting={setting} />
        ))}
        <Field label="Seed" help="Other seeds give other motions">
          <input
            type="number"
            min="0"
            step="1"
            value={draft.value.seed}
            data-testid="seed"
            onInput={(event) => {
              const text = event.currentTarget.value;
              if (text !== "") change({ seed: Math.max(0, Math.round(Number(text))) });
            }}
            onBlur={(event) => (event.currentTarget.value = String(draft.value.seed))}
          />
        </Field>
      </div>
      {others.length > 0 && (
        <details>
          <summary data-testid="more-settings">
            More settings{changed > 0 ? ` · ${changed} changed` : ""}
          </summary>
          <div class="pairs-grid">
            {others.map((setting) => (
              <SettingField key={setting.name} setting={setting} />
            ))}
          </div>
        </details>
      )}
    </Group>
  );
}

function SettingField({ setting }: { setting: Setting }) {
  const { name, kind, choices, unit, help, is_optional } = setting;
  const given = draft.value.settings[name];
  const value = given === undefined ? setting.default : given;
  const set = (next: Value) => setSetting(name, next, setting.default);
  const label = unit ? `${words(setting.label)}, ${unit}` : words(setting.label);
  const testid = `setting-${name}`;
  if (kind === "boolean") {
    return (
      <Switch label={label} help={help} value={value === true} testid={testid} onChange={set} />
    );
  }
  if (kind === "choice") {
    // Numbers come back from a list as text.
    const take = (text: string) =>
      set(text === "" ? null : (choices.find((c) => String(c) === text) ?? text));
    if (!is_optional && choices.length <= 4) {
      return (
        <div class="field wide" title={help}>
          <span class="field-label">{label}</span>
          <Segmented
            label={label}
            values={choices.map(String)}
            value={String(value)}
            testid={testid}
            onChange={take}
            name={words}
          />
        </div>
      );
    }
    const none: (readonly [string, string])[] = is_optional ? [["", "–"]] : [];
    return (
      <Select
        label={label}
        testid={testid}
        value={String(value ?? "")}
        options={[...none, ...choices.map((c) => [String(c), words(String(c))] as const)]}
        onChange={take}
      />
    );
  }
  return (
    <Field label={label} help={help}>
      <input
        type="number"
        step={kind === "integer" ? 1 : "any"}
        value={value === null ? "" : String(value)}
        placeholder={is_optional ? "none" : String(setting.default)}
        data-testid={testid}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (text !== "") set(Number(text));
          else if (is_optional) set(null);
        }}
        onBlur={(event) => {
          // Left empty; while somebody types it may be.
          if (event.currentTarget.value !== "" || is_optional) return;
          set(setting.default);
          event.currentTarget.value = String(setting.default);
        }}
      />
    </Field>
  );
}
