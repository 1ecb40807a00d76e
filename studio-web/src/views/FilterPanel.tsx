// What is on the wall, and in what order.
import type { ComponentChildren } from "preact";

import { clips, jobs } from "../data/store";
import {
  type Filter,
  figureNames,
  filter,
  isAscending,
  NO_FILTER,
  setFilter,
  shownClips,
  sortBy,
} from "../data/wall";
import { Field, IconButton, Select, Switch } from "../parts/controls";
import { number, words } from "../parts/format";

export function FilterPanel() {
  const f = filter.value;
  const isFiltered = JSON.stringify(f) !== JSON.stringify(NO_FILTER);
  const figures = [...figureNames.value].map(([key, { label }]) => [key, label] as const);
  return (
    <aside class="panel filters" aria-label="Sort and filter" data-testid="filters">
      <Group title="Order">
        <div class="row">
          <Select
            label="Sort by"
            isCompact
            testid="sort"
            value={sortBy.value}
            options={[["created", "Newest"], ["scene", "Scene"], ...figures]}
            onChange={(value) => {
              sortBy.value = value;
              // Of figures, small is mostly good; of dates, late.
              isAscending.value = value !== "created";
            }}
          />
          <IconButton
            icon="down"
            label={isAscending.value ? "Smallest first" : "Largest first"}
            testid="sort-direction"
            class={isAscending.value ? "is-flipped" : ""}
            onClick={() => (isAscending.value = !isAscending.value)}
          />
        </div>
      </Group>
      <Group title="Show">
        <Choice
          label="Scene"
          of="scene"
          all="All scenes"
          values={known((c) => c.scene)}
          name={words}
        />
        <Choice
          label="Certificate"
          of="certificate"
          all="Any verdict"
          values={["certified", "refused", "unjudged"]}
          name={(v) =>
            ({ certified: "Certified", refused: "Not certified", unjudged: "Not judged yet" })[v] ??
            v
          }
        />
        <Choice
          label="Strategy"
          of="strategy"
          all="Any strategy"
          values={["hold", "slide", "relocate"]}
          name={(v) =>
            ({ hold: "Fingers hold", slide: "A finger slides", relocate: "A finger moves on" })[
              v
            ] ?? v
          }
        />
        <Choice
          label="Family"
          of="cluster"
          all="All families"
          values={known((c) => (c.cluster === null ? "" : String(c.cluster)))}
          name={(v) => `Family ${Number(v) + 1}`}
        />
        <Choice
          label="Job"
          of="job"
          all="All jobs"
          values={known((c) => c.job ?? "")}
          name={jobName}
        />
        <Switch
          label="Favourites only"
          value={f.favourites}
          testid="filter-favourites"
          onChange={(favourites) => setFilter({ favourites })}
        />
      </Group>
      <MetricFilter />
      {isFiltered && (
        <button
          type="button"
          class="button button-quiet"
          data-testid="clear-filter"
          onClick={() => setFilter(NO_FILTER)}
        >
          Show all {clips.value.length}
        </button>
      )}
    </aside>
  );
}

function known(of: (clip: (typeof clips.value)[number]) => string): string[] {
  return [...new Set(clips.value.map(of))].filter((value) => value !== "").sort();
}

function jobName(id: string): string {
  const job = jobs.value.find((j) => j.id === id);
  if (!job) return id;
  const at = new Date(job.created * 1000).toLocaleTimeString([], { timeStyle: "short" });
  return `${words(job.scene)}, ${at}`;
}

interface ChoiceProps {
  label: string;
  of: "scene" | "certificate" | "strategy" | "cluster" | "job";
  all: string;
  values: string[];
  name: (value: string) => string;
}

function Choice({ label, of, all, values, name }: ChoiceProps) {
  if (values.length === 0) return null;
  return (
    <Select
      label={label}
      testid={`filter-${of}`}
      value={filter.value[of]}
      options={[["", all], ...values.map((value) => [value, name(value)] as const)]}
      onChange={(value) => setFilter({ [of]: value } as Partial<Filter>)}
    />
  );
}

/** Hides clips above a value of a figure. */
function MetricFilter() {
  const names = [...figureNames.value];
  if (names.length === 0) return null;
  const { figure, most } = filter.value;
  const values = clips.value.flatMap((clip) => {
    const value = clip.figures?.find((item) => item.name === figure)?.value;
    return value === null || value === undefined ? [] : [value];
  });
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const unit = figureNames.value.get(figure)?.unit ?? "";
  return (
    <Group title="At most">
      <Select
        label="Figure"
        isCompact
        testid="filter-figure"
        value={figure}
        options={[["", "No limit"], ...names.map(([key, { label }]) => [key, label] as const)]}
        onChange={(value) => setFilter({ figure: value, most: null })}
      />
      {figure && values.length > 0 && (
        <Field label={`${number(most ?? high)} ${unit} · ${shownClips.value.length} shown`}>
          <input
            class="slider"
            type="range"
            min={low}
            max={high}
            step={(high - low) / 100 || 1}
            value={most ?? high}
            aria-label="Largest value"
            data-testid="filter-most"
            onInput={(event) => setFilter({ most: Number(event.currentTarget.value) })}
          />
        </Field>
      )}
    </Group>
  );
}

export function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="group">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
