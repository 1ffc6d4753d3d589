/** Types of the shims that write values. Only `tsc` reads this file. */

/** Bounds of one result; the bridge passes them in. */
interface ValueBounds {
  /** Of the whole text, as it is sent. */
  chars: number;
  /** Of one string. */
  stringChars: number;
  depth: number;
  /** Values of any kind, all together. */
  nodes: number;
  /** Of one object. */
  keys: number;
  /** Of one array, map or set. */
  items: number;
  /** Objects inside one class instance, and classes that these may have; one with more is shown by its own fields. */
  insiders: number;
  classes: number;
  /** Whether the stacks of errors are written. */
  stacks: boolean;
  /** The path to the part that is wanted. */
  select: string[];
  /** Without it, pictures and binary data are told by their markers. */
  media?: MediaBounds;
}

/** Bounds of a result that is a picture or binary data. */
interface MediaBounds {
  /** Longer side of a picture as it is shown, in pixels. */
  side: number;
  /** Of a picture as it is shown. */
  bytes: number;
  /** Of a picture that is decoded in order to be shown smaller. */
  pixels: number;
  /** Of anything that is sent. */
  fileBytes: number;
}

/** `blob` for files, too; `canvas` for the element; `pixels` for ImageData; `url` for a `data:` URL. */
type BinaryKind = '' | 'blob' | 'canvas' | 'offscreen' | 'pixels' | 'bitmap' | 'url';

interface PictureSize {
  __proto__: null;
  width: number;
  height: number;
}

/** Bytes to be sent; 0 pixels where they are shown as no picture. */
interface ShownBytes extends PictureSize {
  bytes: Uint8Array;
  /** The size before the picture was drawn anew. */
  whole: PictureSize | null;
}

/** Where a value is in the result. `key` is written as in the answer. */
interface Place {
  __proto__: null;
  above: Place | null;
  key: string;
  depth: number;
  /** It is being written: what repeats it is a cycle. */
  open: boolean;
  /** It is what `toJSON` gave, which is not asked again. */
  asked: boolean;
}

interface ObjectTable {
  get(key: unknown): any;
  set(key: unknown, value: unknown): void;
  delete(key: unknown): void;
}

/** The state of one encoding. */
interface Sheet {
  __proto__: null;
  bounds: ValueBounds;
  /** How much more may be written. */
  room: number;
  nodes: number;
  seen: ObjectTable;
  classes: ObjectTable;
  /** Objects that were noted in `seen` since the class instance began. */
  noted: Noted | null;
  /** How many more objects the class instance may hold; without end outside of one. */
  insiders: number;
  insiderLimit: number;
  insideClasses: number;
  /** How many class instances were begun that are in no other one. */
  instances: number;
  /** Only own fields: objects in them are named. */
  shallow: boolean;
}

interface Noted {
  value: unknown;
  before: Noted | null;
}

/** The elements of a document that were named to an agent. */
interface NamedElements {
  __proto__: null;
  /** Stands in every uid of this document. */
  mark: number;
  minted: number;
  uids: ObjectTable;
  /** Fields that were for a password when they were looked at. */
  passwords: ObjectTable;
  /** By uid. */
  elements: ObjectTable;
  WeakRef: new (target: object) => object;
  deref: Function;
}

/** A place in the arguments of a call where an agent has named an element. */
interface ElementPlace {
  path: (string | number)[];
  by: 'uid' | 'selector';
  name: string;
  /** The schema says so; else it may be data that looks like one. */
  certain: boolean;
}

/** What is known of all objects with one prototype. */
interface ClassInfo {
  __proto__: null;
  /** The built-in that it is or extends, '' for none. */
  kind: string;
  /** The name of the class, '' for a plain object. */
  name: string;
  /** Whether the class has a `toJSON`. */
  json: boolean;
  /** How many objects only looked like that built-in. */
  fakes: number;
  /** The class instance of which it was counted as one of the classes inside. */
  countedFor: number;
}

/** One entry before the own fields. */
interface Head {
  __proto__: null;
  key: string;
  is: 'text' | 'list' | 'value' | 'member';
  /** The text, list or value; the owner of a member. */
  value: any;
  /** Of a list: how many items there are, those that were not read included. */
  length: number;
}

/** How an object is written. */
type Shape =
  | { __proto__: null; is: 'marker'; word: string; content: string }
  | { __proto__: null; is: 'element'; uid: string; text: string }
  | { __proto__: null; is: 'value'; value: unknown }
  | { __proto__: null; is: 'list'; list: any; length: number }
  | { __proto__: null; is: 'fields'; owner: any; heads: Head[]; keys: string[]; about: ClassInfo; instance: boolean };

interface ObjectConstructor {
  hasOwn(owner: object, key: PropertyKey): boolean;
}

declare const WeakRef: {
  new (target: object): object;
  prototype: { deref: Function };
};
