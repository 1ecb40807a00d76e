// Made by `python -m handwright.studio.typescript`. Change messages.py, not this file.

/** The server. */
export interface About {
  version: string;
  /** Name of the folder whose clips are shown; its last part only. */
  folder: string;
  /** Whether .mp4 can be written. */
  has_films: boolean;
  /** Whether .usd can be written. */
  has_usd: boolean;
}

/** A body of a scene. */
export interface BodyInfo {
  name: string;
  /** kg. */
  mass: number;
  /** Coulomb coefficient against skin. */
  friction: number;
  /** Edges of its bounding box, m. */
  size: [number, number, number];
}

/** A named problem. */
export interface SceneInfo {
  name: string;
  /** One line. */
  summary: string;
  /** The one that suits it. */
  method: string;
  num_frames: number;
  /** s. */
  duration: number;
  hands: string[];
  bodies: BodyInfo[];
  /** As pins and preferences name them, such as `index` or `left.index`. */
  digits: string[];
  /** The last goal of each body that has one of its own place, as the scene gives it. */
  goals: GoalRequest[];
  /** Whether it can be stepped and pushed live. */
  is_live: boolean;
  /** Whether a user brought it. */
  is_uploaded: boolean;
}

/** A setting of a method, for a form. */
export interface Setting {
  name: string;
  /** The name in words. */
  label: string;
  kind: "integer" | "number" | "boolean" | "choice";
  /** None where the setting may be left out. */
  default: number | boolean | string | null;
  /** For the kind `choice`, else empty. */
  choices: (string | number)[];
  /** Whether null is a value. */
  is_optional: boolean;
  /** Such as `s`; empty if there is none. */
  unit: string;
  help: string;
  /** Whether it is among the few that most people change. */
  is_basic: boolean;
}

/** A method and its settings. */
export interface MethodInfo {
  name: string;
  title: string;
  /** Authors and year; empty if there is none. */
  paper: string;
  settings: Setting[];
}

/** A parametric body that can take another's place. */
export interface ShapeInfo {
  name: string;
  summary: string;
}

/** A metric of a clip. */
export interface Figure {
  name: string;
  /** In words. */
  label: string;
  /** None if it does not exist. */
  value: number | null;
  unit: string;
}

/** How often digits hold their place, slide and go to other places. */
export interface Strategies {
  hold: number;
  slide: number;
  relocate: number;
}

/** A clip on the wall. What a judge says is None until it has been judged. */
export interface ClipSummary {
  id: string;
  /** Path in the folder. */
  file: string;
  scene: string;
  method: string;
  seed: number;
  num_frames: number;
  fps: number;
  /** s. */
  duration: number;
  /** s since 1970. */
  created: number;
  /** That made it, if it is of this server's. */
  job: string | null;
  is_favourite: boolean;
  is_certified: boolean | null;
  /** One sentence. */
  verdict: string | null;
  figures: Figure[] | null;
  strategies: Strategies | null;
  /** Clips of one scene and length that move alike have the same number, from 0. */
  cluster: number | null;
  /** Why it cannot be read or judged, if so. */
  trouble: string | null;
}

/** One digit, or a palm, on one body over time. */
export interface Strip {
  hand: string;
  /** Such as `index`, or `palm`. */
  digit: string;
  body: string;
  /** For each frame -1 for no contact, else 0 static, 1 sliding, 2 rolling, 3 colliding. */
  mode: number[];
  /** Sum of its forces on the body, N; 0 where none is known. */
  force: number[];
}

/** A figure over time. */
export interface Curve {
  name: string;
  label: string;
  unit: string;
  /** For each frame. */
  values: (number | null)[];
  /** Largest value that passes; None if there is no limit. */
  allowed: number | null;
}

/** One part of a verdict. */
export interface CheckInfo {
  name: string;
  /** In words. */
  label: string;
  is_passed: boolean;
  worst: number;
  allowed: number;
  unit: string;
  /** Frames. */
  num_failing: number;
  detail: string;
}

/** Contacts of a clip by columns, ordered by frame. */
export interface ContactTable {
  frame: number[];
  /** A hand, a body, or `environment`. */
  toucher: string[];
  /** Of the hand, or `palm`; empty for others. */
  digit: string[];
  body: string[];
  /** As in a strip. */
  mode: number[];
  /** m, in the world. */
  point: [number, number, number][];
  /** Unit length, into the body. */
  normal: [number, number, number][];
  /** On the body, N. */
  force: ([number, number, number] | null)[];
  /** 1 for a straight push, 0 on the edge of the friction cone; None without force. */
  margin: (number | null)[];
  /** Coefficient. */
  friction: number[];
}

/** All that is shown under a stage. */
export interface Timeline {
  /** Of the clip. */
  id: string;
  /** s, from 0. */
  times: number[];
  strips: Strip[];
  /** For each frame, labels of the checks that fail, with their values; empty if all pass. */
  failed: string[][];
  curves: Curve[];
  checks: CheckInfo[];
  contacts: ContactTable;
  verdict: string;
  notes: string[];
}

/** Two clips of one length. */
export interface Comparison {
  first: string;
  second: string;
  times: number[];
  /** Distances of fingertips in the wrist's frame and of bodies, and differences of forces. */
  curves: Curve[];
}

/** A clip is, or is no longer, a favourite. */
export interface FavouriteRequest {
  is_favourite: boolean;
}

/** A digit that must touch a body at a point. */
export interface PinRequest {
  digit: string;
  /** In the body's frame, m. */
  point: [number, number, number];
  /** s. */
  start: number;
  /** s; None for as long as it can. */
  end: number | null;
  /** On which it was placed; hands touch the one that they hold at the time. */
  body?: string | null;
}

/** Where a body should be at a time; takes the place of the scene's last goal for it. */
export interface GoalRequest {
  body: string;
  /** m. */
  position: [number, number, number];
  /** None if the orientation does not matter. */
  wxyz: [number, number, number, number] | null;
  /** s. */
  time: number;
}

/** What is changed about a body of the scene. None leaves it as it is. */
export interface BodyEdit {
  body: string;
  /** Name of a shape that takes its place. */
  shape?: string | null;
  /** Identifier of an uploaded mesh that takes its place. */
  upload?: string | null;
  /** kg. */
  mass?: number | null;
  friction?: number | null;
}

/** A hand that is moved relative to the bodies. */
export interface HandEdit {
  hand: string;
  /** m, in the frame of the hand's root. */
  offset: [number, number, number];
}

/** A motion that is wanted. */
export interface JobRequest {
  /** Name of a scene, or of an uploaded one. */
  scene: string;
  /** None for the one that suits it. */
  method?: string | null;
  /** Those that are not the default. */
  settings?: Record<string, number | boolean | string | null>;
  seed?: number;
  bodies?: BodyEdit[];
  hands?: HandEdit[];
  pins?: PinRequest[];
  goals?: GoalRequest[];
  /** Whether only certified motions are kept; False is for research on methods. */
  certify?: boolean;
}

/** A job in the queue. */
export interface JobInfo {
  id: string;
  scene: string;
  method: string;
  seed: number;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  /** What it does now, or how it ended, in words. */
  stage: string;
  /** Motions asked for. */
  wanted: number | null;
  found: number;
  /** Identifiers of its clips, as they were found. */
  clips: string[];
  /** Such as `dead_ends` and `total_frames`. */
  statistics: Record<string, number>;
  /** Of the present stage. */
  seconds: number;
  /** s that the stage may take. */
  budget: number | null;
  /** s since 1970. */
  created: number;
  /** What went wrong and what to do; empty if nothing did. */
  message: string;
  request: JobRequest;
}

/** A file that a user brought. */
export interface Upload {
  id: string;
  name: string;
  /** A mesh takes a body's place; a scene has tracks or goals; a clip joins the wall. */
  kind: "mesh" | "scene" | "clip";
  /** What is in it, in words. */
  summary: string;
  /** Names of its tracks, to make a scene of. */
  tracks: string[];
  /** Name of the scene that a file of goals has become. */
  scene: string | null;
}

/** Makes a scene of uploaded tracks and a body. */
export interface SceneFromTracks {
  name: string;
  /** Identifier of an upload that holds tracks of a wrist and a body. */
  tracks: string;
  /** Track of the hand's root; `left` or `right` in its name chooses the side. */
  hand: string;
  /** Track of the body. */
  body: string;
  /** Identifier of an uploaded mesh; None for a shape. */
  mesh: string | null;
  shape: string | null;
  /** kg. */
  mass: number;
  friction: number;
}

/** Why a request was refused: what was given, what was expected, what to do. */
export interface Trouble {
  message: string;
}

/** A clip that is no longer in the folder. */
export interface ClipGone {
  id: string;
}

/** One event; one of the fields is set. */
export interface StudioEvent {
  kind: "job" | "clip" | "clip_gone";
  job: JobInfo | null;
  clip: ClipSummary | null;
  clip_gone: ClipGone | null;
}

/** A clip of a report. */
export interface ReportClip {
  summary: ClipSummary;
  timeline: Timeline;
  /** The .glb in base64. */
  model: string;
}

/** All that a report holds. */
export interface ReportData {
  title: string;
  version: string;
  /** s since 1970. */
  created: number;
  clips: ReportClip[];
}

/** From the page. `start` names a scene, `push` a body, its point and a force. `fingers` starts learned fingers for hands and a prop, and `swap` brings another prop. `move` wishes the prop elsewhere; `take` and `let_go` name a hand, or mean the first. `throwing` starts an arm that throws a prop and catches it, and `aim` says what its next throws shall be: what is left out stays as it is. A page that says `seen` after each frame gets no more than a few that it has not seen. */
export interface LiveCommand {
  kind: "start" | "push" | "release" | "pause" | "resume" | "reset" | "save" | "fingers" | "move" | "take" | "let_go" | "swap" | "record" | "seen" | "throwing" | "aim";
  scene?: string | null;
  body?: string | null;
  /** In the body's frame, m. */
  point?: [number, number, number] | null;
  /** In the world, N; stays on until `release` or another push. */
  force?: [number, number, number] | null;
  /** For `fingers`; the first one takes the prop where none is named. */
  hands?: ("right" | "left")[] | null;
  hand?: "right" | "left" | null;
  prop?: string | null;
  /** Where the prop, or the box that is thrown at, should be in the world, m. */
  place?: [number, number, number] | null;
  /** In the world, from where it should be so far, m; boxes stop at the edge of their room. */
  shift?: [number, number, number] | null;
  /** Rotation vector in the world, rad. */
  turn?: [number, number, number] | null;
  /** What balls are thrown to. */
  target?: "height" | "box" | null;
  /** To which balls are thrown, above the hollow of the palm at rest, m. */
  height?: number | null;
  /** By which long things turn in the air. */
  half_turns?: number | null;
}

/** A hand in one frame, for the nodes of its .glb. Y up; quaternions xyzw. */
export interface LiveHand {
  name: string;
  /** Of the node `<name>:root`, m. */
  position: [number, number, number];
  xyzw: [number, number, number, number];
  /** Turns of the nodes `<name>:<joint>`, in the order of `asset.extras.handwright.hands`. */
  joints: [number, number, number, number][];
  /** Turns of the nodes that only the skin has, in the order of `between` there. */
  between: [number, number, number, number][];
}

/** A body in one frame, for its node. Y up; quaternion xyzw. */
export interface LiveBody {
  name: string;
  position: [number, number, number];
  xyzw: [number, number, number, number];
}

/** A contact. Y up. */
export interface LiveContact {
  body: string;
  digit: string;
  mode: number;
  point: [number, number, number];
  /** On the body, N. */
  force: [number, number, number];
}

/** What a hand with learned fingers does. */
export interface HandState {
  name: string;
  /** Of its wrist, now; what is shown comes later. */
  phase: "away" | "reaching" | "holding" | "leaving";
  /** Digits, and `palm`, at the prop as it is shown. */
  touching: string[];
}

/** Of learned fingers, beside what is shown. */
export interface FingersState {
  /** The prop that was chosen, where it should be. */
  wish: LiveBody;
  hands: HandState[];
  /** How much later than wrists and prop were moved they are shown, s. */
  delay: number;
  /** Of computing for a frame. */
  milliseconds: number;
  /** What has happened, by the names of `COUNTS` of live fingers; those above zero. */
  counts: Record<string, number>;
  /** Length of the recording, s; None while nothing is recorded. */
  recorded: number | null;
  /** Why something was not done; empty if all was. */
  note: string;
}

/** Something that can be thrown. */
export interface ThrownThing {
  name: string;
  /** Edges of its bounding box, m. */
  size: [number, number, number];
  /** kg. */
  mass: number;
  /** By which it can be turned end over end; of balls none, which are thrown to a target. */
  half_turns: number[];
}

/** What an arm that throws can be asked for. */
export interface ThrowingChoices {
  things: ThrownThing[];
  /** The least and the greatest, above the hollow of the palm at rest, m. */
  heights: [number, number];
  /** The hollow of the palm at rest, in the world, m. */
  palm: [number, number, number];
  /** Corner of the room of the box's centre, in the world, m. */
  box_low: [number, number, number];
  /** The opposite corner. */
  box_high: [number, number, number];
}

/** Of an arm that throws, beside what is shown. */
export interface ThrowingState {
  /** That was asked for; what is shown is swapped while the hand is at rest. */
  thing: string;
  /** What the next throws are for. */
  target: "height" | "box" | "half_turns";
  /** Above the hollow of the palm at rest, m. */
  height: number;
  half_turns: number;
  /** Where the box should be, in the world, m; it goes there while the hand holds the thing. */
  box: [number, number, number];
  phase: "holding" | "throwing" | "going_back" | "catching" | "lost";
  /** What the throws that follow were for: counts begin anew with another thing or target. */
  counted: "height" | "box" | "half_turns";
  throws: number;
  /** Throws in a row that did what they should and were caught. */
  in_a_row: number;
  most_in_a_row: number;
  dropped: number;
  /** Height of the last throw to a height, as asked for, m. */
  asked: number | null;
  /** The same, as reached, m. */
  reached: number | null;
  /** Of computing for a frame. */
  milliseconds: number;
  /** Length of the recording, s; None while nothing is recorded. */
  recorded: number | null;
  /** Why something was not done; empty if all was. */
  note: string;
}

/** To the page. `ready` brings the address of a .glb of the first frame; then come frames. */
export interface LiveFrame {
  kind: "preparing" | "ready" | "frame" | "saved" | "trouble";
  /** For `preparing` and `trouble`. */
  message: string;
  /** Address of the .glb, for `ready`. */
  model: string;
  /** Identifier, for `saved`. */
  clip: string;
  /** s. */
  time: number;
  hands: LiveHand[];
  bodies: LiveBody[];
  contacts: LiveContact[];
  /** Frames that the server made in a second; of scenes that are pushed, those that it could. */
  fps: number;
  fingers: FingersState | null;
  throwing: ThrowingState | null;
  /** For `ready`, of an arm that throws. */
  choices: ThrowingChoices | null;
}
