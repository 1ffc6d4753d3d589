/**
 * Types for pages that offer tools to coding agents: they answer the `devtoolstooldiscovery` event.
 *
 * Everything here is global. In JavaScript or TypeScript:
 *
 *     /// <reference path="./devtools-tools.d.ts" />
 *
 *     window.addEventListener('devtoolstooldiscovery', (event) => event.respondWith({name: 'My app', tools: []}));
 */

/** Dispatched on `window` by whoever looks for tools, as often as it likes. Answer it the same way each time. */
interface DevtoolsToolDiscoveryEvent extends CustomEvent<null> {
  /** Offer one group of tools, now or later; may be called once for each group. */
  respondWith(group: ToolGroup | PromiseLike<ToolGroup>): void;
}

/** Tools that belong together. */
interface ToolGroup {
  name: string;
  description?: string;
  tools: readonly ToolDefinition[];
}

/** One tool. `Input` is what `inputSchema` lets through. */
interface ToolDefinition<Input = any> {
  name: string;
  /** For the agent: what the tool tells or does, and when to use it. */
  description: string;
  /**
   * JSON Schema of an object: draft 7, unless `$schema` names another draft. Where it says `'x-mcp-type': 'HTMLElement'`,
   * `execute` gets an element of the page.
   */
  inputSchema: object;
  /**
   * Do the work, with arguments that fit `inputSchema`. What it returns, or its promise resolves to, is what the agent
   * reads: a string as it is, a canvas, Blob, ImageData or ImageBitmap as a picture, sound or file, anything else as
   * JSON. What it throws is reported as the tool's failure.
   *
   * @param context is missing where another bridge than pagebridge calls.
   */
  execute(input: Input, context?: ToolContext): unknown;
}

/** What a tool gets beside its arguments. */
interface ToolContext {
  /** Fires when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** Say how far the work is, for whoever waits for it. */
  progress(report: ToolProgress): void;
}

interface ToolProgress {
  done: number;
  total?: number;
  message?: string;
}

/** Calls a page's own tools from its scripts, with values that need not be JSON. */
interface DevtoolsToolHelper {
  /** What the page answered to the latest event. */
  readonly toolGroups: readonly ToolGroup[];
  /** Run the first tool of that name. */
  executeTool(name: string, args?: object): Promise<any>;
}

interface WindowEventMap {
  devtoolstooldiscovery: DevtoolsToolDiscoveryEvent;
}

interface Window {
  /** There once the page has offered a tool to a bridge. */
  __dtmcp?: DevtoolsToolHelper;
}
