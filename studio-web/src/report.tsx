import "./look/index.css";

import { render } from "preact";

import { Report } from "./views/Report";

render(<Report />, document.getElementById("app")!);
