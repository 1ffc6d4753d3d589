/** Types that the shims share. Only `tsc` reads this file. */

type Natives = any;

interface Ancestor {
  value: unknown;
  above: Ancestor | null;
  /** It, or something above it, is an instance of a class. */
  inside: boolean;
}

/** Bounds of one result; the bridge passes them in. */
interface ResultBounds {
  chars: number;
  depth: number;
  /** How many objects inside one class instance are written, before instances are written by their own fields alone. */
  insiders: number;
}

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
  /** When it was opened, in milliseconds as performance.now counts. */
  opened: number;
  hoped: number;
  answers: number;
  promised: number;
  listed: Discovery;
  captured: CapturedTool[][];
  room: Room;
  settled: (() => void) | null;
}

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

interface ListedTool {
  __proto__: null;
  index?: number;
  name: string;
  description: string;
  /** How long the description was, where it had to be cut; else 0. */
  cut: number;
  /** The page's schema as JSON text. */
  schema: string;
}

interface CapturedTool {
  __proto__: null;
  owner: object;
  execute: Function;
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
  /** Whether more answers may come. */
  more: boolean;
}

interface Ending {
  __proto__: null;
  how: 'completed' | 'failed' | 'stale' | 'too large';
  kind: 'none' | 'string' | 'json' | 'error';
  text: string;
  name?: string;
  stack?: string;
}

interface String {
  toWellFormed(): string;
}
