// The keys on the screen, as nobody guesses them.

/** Keys with spaces between them, and what they do. */
export type KeyRow = readonly [keys: string, what: string];

export function KeyCard({ rows, testid }: { rows: readonly KeyRow[]; testid: string }) {
  return (
    <dl class="key-card" data-testid={testid}>
      {rows.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            {keys.split(" ").map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
