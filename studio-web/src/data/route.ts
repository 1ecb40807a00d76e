// Which view is shown: the part of the address after #, so that reports work from disk too.
import { signal } from "@preact/signals";

export interface Route {
  view: "wall" | "stage" | "compare" | "make" | "live";
  arguments: string[];
  query: URLSearchParams;
}

const VIEWS: readonly string[] = ["wall", "stage", "compare", "make", "live"];

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/").map(decodeURIComponent);
  return {
    view: VIEWS.includes(view) ? (view as Route["view"]) : "wall",
    arguments: rest.filter((part) => part !== ""),
    query: new URLSearchParams(query),
  };
}

export const route = signal(read());
addEventListener("hashchange", () => {
  markReady(null);
  route.value = read();
});

export function linkTo(view: Route["view"], ...rest: string[]): string {
  return `#/${[view, ...rest.map(encodeURIComponent)].join("/")}`;
}

export function goTo(address: string): void {
  location.hash = address;
}

/** Says that a view has drawn its first picture; for tests and for pictures of the page. */
export function markReady(view: string | null): void {
  const { dataset } = document.documentElement;
  if (view === null) delete dataset.ready;
  else dataset.ready = view;
}
