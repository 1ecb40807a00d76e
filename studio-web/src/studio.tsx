import "./look/index.css";

import { render } from "preact";

import { load } from "./data/store";
import { App } from "./views/App";

void load();
render(<App />, document.getElementById("app")!);
