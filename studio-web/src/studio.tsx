import "./look/index.css";

import { render } from "preact";

import { load } from "./data/store";
import { painter } from "./scene/painter";
import { App } from "./views/App";

void load();
render(<App />, document.getElementById("app")!);
// Opening a canvas takes a while; it goes on while the clips are asked for.
painter();
