// A job that waits or runs: what it does, how far it is, and a way to end it.
import { attempt } from "../data/store";
import { server } from "../data/server";
import type { JobInfo } from "../messages";
import { words } from "./format";

export function JobStrip({ job }: { job: JobInfo }) {
  const share = job.wanted ? job.found / job.wanted : 0;
  const spent = job.budget ? Math.min(job.seconds / job.budget, 1) : 0;
  const isRunning = job.state === "running";
  return (
    <div class="job" data-testid="job" data-state={job.state} data-found={job.found}>
      <span class={`job-pulse ${isRunning ? "is-running" : ""}`} aria-hidden="true" />
      <strong>{words(job.scene)}</strong>
      <span class="job-stage">{job.state === "queued" ? "waits for its turn" : job.stage}</span>
      <span class="grow" />
      {isRunning && (
        <span class="job-count" data-testid="job-found">
          {job.found}
          {job.wanted ? ` of ${job.wanted}` : ""} found
        </span>
      )}
      {isRunning && job.budget !== null && (
        <span class="muted">{Math.max(0, Math.round(job.budget - job.seconds))} s left</span>
      )}
      <button
        type="button"
        class="button button-quiet"
        data-testid="cancel-job"
        onClick={() => void attempt(() => server.cancel(job.id))}
      >
        Stop
      </button>
      <progress max={1} value={Math.max(share, 0.02)} aria-label="Found" />
      <span class="job-spent" style={{ transform: `scaleX(${spent})` }} aria-hidden="true" />
    </div>
  );
}
