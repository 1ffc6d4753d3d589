/** Types that the shims share. Only `tsc` reads this file. */

type Natives = any;

/** Bounds of one discovery; the bridge passes them in. */
interface Bounds {
  groups: number;
  tools: number;
  nameChars: number;
  descriptionChars: number;
  schemaChars: number;
  allSchemaChars: number;
  schemaDepth: number;
  /** Milliseconds that slow answers have. */
  patience: number;
  /** Milliseconds that a form has to submit itself. */
  formPatience: number;
  /** Milliseconds that changes of registered tools are gathered. */
  newsPatience: number;
}

/** What is left of the bounds of a page. */
interface Room {
  __proto__: null;
  tools: number;
  schemaChars: number;
}

/** One dispatch of the event, and what came of it. */
interface Round {
  __proto__: null;
  number: number;
  bounds: Bounds;
  /** When it was opened, in milliseconds as performance.now counts. */
  opened: number;
  hoped: number;
  answers: number;
  promised: number;
  listed: Discovery;
  /** Registered tools are being read. */
  reading: boolean;
  registered: RegisteredTools | null;
  captured: (CapturedTool | RegisteredTool)[][];
  room: Room;
  settled: (() => void) | null;
}

/** The registered tools of a round, all that was told of them, and the room that was left for them. */
interface RegisteredTools extends Room {
  captured: RegisteredTool[];
  words: string;
}

/** Puts a function in the place of a method, unseen; it gets what the trap of a proxy gets. */
type Cover = (owner: object, name: string, apply: (target: Function, self: unknown, given: any[]) => unknown) => void;

interface News {
  tell(word: 'listener' | 'answers'): void;
  next(): Promise<string>;
}

/** One thing that is wrong with what the page gave. `tool` is -1 for the group itself. */
interface Fault {
  __proto__: null;
  tool?: number;
  part: string;
  expected: string;
  found: string;
  name: string | null;
}

interface Faulty {
  __proto__: null;
  fault: Fault;
}

interface Told {
  __proto__: null;
  listed: ListedTool;
}

interface ReadTool<Captured> extends Told {
  captured: Captured;
}

interface ListedTool {
  __proto__: null;
  index?: number;
  name: string;
  description: string;
  /** How long the description was, where it had to be cut; else 0. */
  cut: number;
  /** The page's schema as JSON text. */
  schema: string;
  /** What the page claims of a registered tool; others have none. */
  annotations?: Record<string, unknown>;
}

interface CapturedTool {
  __proto__: null;
  owner: object;
  execute: Function;
}

/** The WebMCP object of a document, and the methods of it that are used. */
interface ModelContextSource {
  __proto__: null;
  context: any;
  getTools: Function;
  executeTool: Function;
  /** It is Chromium's: `executeTool` takes an object. A polyfill's takes JSON text. */
  native: boolean;
}

/** A tool that is registered with `document.modelContext`. */
interface RegisteredTool {
  __proto__: null;
  source: ModelContextSource;
  bounds: Bounds;
  name: string;
  /** As `getTools` gave it. */
  entry: unknown;
  /** How many registrations there were before it was read: it is one of these. */
  registered: number;
  /** All that was told of it. */
  words: string;
  /** It is a form, not a function. */
  isForm: boolean;
  form: Element | null;
}

interface Registrations {
  /** How many there were by now, the failed ones, too. */
  count(): number;
  /** All of this document are watched. */
  watched: boolean;
  /** A script has tried to register a tool of that name, as far as is known. */
  has(name: string): boolean;
  /** There may be tools, whoever they are from. */
  any(): boolean;
  /** Something has happened to tools. */
  change(): void;
  /** The tools that there are now; Chromium is asked only if something has happened to them. */
  list(source: ModelContextSource): Promise<any[]>;
  /** Await one run; the result ends that. */
  expect(run: AwaitedRun): () => void;
}

interface AwaitedRun {
  __proto__: null;
  name: string;
  /** The arguments as JSON text. */
  text: string;
  /** Chromium runs that registration now. */
  begin(serial: number, execute: () => unknown): Promise<void>;
}

/** What a tool says of how far it is. */
interface ProgressReport {
  __proto__: null;
  done: number;
  total: number | null;
  message: string | null;
}

/** A tool that runs, as the bridge sees it. */
interface StartedRun {
  __proto__: null;
  control: () => AbortController;
  context: ToolContext;
  /** Give the bridge its answer. */
  end(ending: Ending): void;
  /** The next report that nobody has read yet; null once it has ended. */
  progress(): Promise<ProgressReport | null>;
}

interface Runs {
  begin(number: number, start: (context: ToolContext) => Promise<Ending>): Promise<Ending>;
  /** Fire its signal, with a DOMException of that name. */
  abort(number: number, name: string, words: string): void;
  /** Answer the bridge now; what the tool does from here is nobody's concern. */
  drop(number: number): void;
  progress(number: number): Promise<ProgressReport | null> | null;
}

interface ListedGroup {
  __proto__: null;
  name: string;
  description: string;
  tools: ListedTool[];
  faults: Fault[];
  /** How many tools were left out because there were too many. */
  dropped: number;
}

interface Discovery {
  __proto__: null;
  round: number;
  groups: ListedGroup[];
  /** Messages of listeners that threw. */
  thrown: string[];
  /** How many answers were left out because there were too many. */
  surplus: number;
  /** Why registered tools could not be read. */
  refused?: string;
  /** Whether more answers may come. */
  more: boolean;
  /** Scripts of the page never run, so it was not asked. */
  scriptless?: boolean;
}

interface Ending {
  __proto__: null;
  how: 'completed' | 'failed' | 'stale' | 'no such part' | 'no such element' | 'abandoned';
  kind: 'none' | 'string' | 'json' | 'error' | 'form' | 'bytes';
  /** Of `bytes`, base64. */
  text: string;
  name?: string;
  stack?: string;
  /** What an error carries besides, as JSON text. */
  more?: string;
  /** How many bytes there are, whether they are sent or not. */
  size?: number;
  /** Of a picture as it is sent, in pixels; 0 where the bytes are shown as no picture. */
  width?: number;
  height?: number;
  /** Its size before it was drawn anew. */
  wholeWidth?: number;
  wholeHeight?: number;
  /** Why there are no bytes. */
  problem?: 'too large' | 'tainted' | 'empty' | 'unreadable';
}

/** What hands get of a document: what the kit has kept, and those of its functions that they use. */
interface Inside {
  __proto__: null;
  natives: Natives;
  runs: Runs;
  /** Those that run, by their numbers. */
  scripts: { __proto__: null; [number: number]: ScriptCalls };
  appendTo: typeof appendTo;
  describeNode: typeof describeNode;
  elementAt: typeof elementAt;
  mintUid: typeof mintUid;
  ownPromise: typeof ownPromise;
  runTool: typeof runTool;
}

interface NamedElement {
  __proto__: null;
  uid: string;
  /** Of a field: its type, `autocomplete`, name, id, label and placeholder. */
  field: string[] | null;
}

/** What an element is to somebody who wants to act on it. */
interface Control {
  __proto__: null;
  kind: 'input' | 'textarea' | 'select' | 'option' | 'area' | 'editable' | 'other';
  /** Of an input. */
  type: string;
  disabled: boolean;
  readOnly: boolean;
  checked: boolean;
  value: string;
  field: string[] | null;
}

/** What came of choosing options. */
interface Choice {
  __proto__: null;
  fault: '' | 'none' | 'disabled' | 'one only';
  /** What there is none of, or what is disabled. */
  wanted: string;
  /** Of what was chosen; with a fault, of what there is. */
  labels: string[];
}

/** A tool that a script wants to be called, with its arguments as JSON. */
interface ScriptCall {
  __proto__: null;
  id: number;
  name: string;
  text: string;
}

interface ScriptCalls {
  __proto__: null;
  call(name: unknown, given: unknown): Promise<unknown>;
  next(): Promise<ScriptCall | null>;
  answer(id: number, isGood: boolean, text: string): void;
  close(): void;
}

interface String {
  toWellFormed(): string;
}
