// The studio's frame: top bar, the view of the address, messages.
import { load, trouble } from "../data/store";
import { route } from "../data/route";
import { Notice } from "../parts/controls";
import { Toasts } from "../parts/Toasts";
import { TopBar } from "../parts/TopBar";
import { Compare } from "./Compare";
import { HelpDialog } from "../parts/HelpDialog";
import { Fingers } from "./Fingers";
import { Live } from "./Live";
import { Make } from "./Make";
import { Stage } from "./Stage";
import { Throwing } from "./Throwing";
import { Wall } from "./Wall";

export function App() {
  return (
    <>
      <TopBar />
      {trouble.value ? (
        <main class="center">
          <Notice icon="alert" title="The studio cannot be reached" testid="trouble">
            <p>{trouble.value}</p>
            <button type="button" class="button button-primary" onClick={() => void load()}>
              Try again
            </button>
          </Notice>
        </main>
      ) : (
        <CurrentView />
      )}
      <HelpDialog />
      <Toasts />
    </>
  );
}

function CurrentView() {
  const { view, arguments: given } = route.value;
  const [first, second] = given;
  if (view === "stage" && first) return <Stage key={first} id={first} />;
  if (view === "compare" && first && second)
    return <Compare key={given.join()} ids={[first, second]} />;
  if (view === "make") return <Make />;
  if (view === "live" && first === "fingers" && second)
    return <Fingers key={second} hands={second} />;
  if (view === "live" && first === "throwing" && second) return <Throwing />;
  if (view === "live") return <Live key={first ?? ""} scene={first ?? null} />;
  return <Wall />;
}
