/// <reference path="../../page_shims/devtools-tools.d.ts" />
// A page in TypeScript: typed inputs of each kind, a class, a promise that is none of the built-in ones.

interface Query {
  table: string;
  limit?: number;
}

interface JsonSchema {
  type?: 'object' | 'string';
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

const schema: JsonSchema = { type: 'object', properties: { table: { type: 'string' } }, required: ['table'] };

const query: ToolDefinition<Query> = {
  name: 'query',
  description: 'Rows of a table',
  inputSchema: schema,
  execute({ table, limit = 10 }, context) {
    context?.signal.throwIfAborted();
    return [{ table, limit }];
  },
};

class Clock implements ToolDefinition {
  name = 'clock';
  description = 'What time it is';
  inputSchema = { type: 'object' };
  execute(): Date {
    return new Date();
  }
}

const thenable: PromiseLike<ToolGroup> = Promise.resolve({ name: 'Promised', tools: [new Clock()] });

window.addEventListener('devtoolstooldiscovery', (event: DevtoolsToolDiscoveryEvent) => {
  const nothing: null = event.detail;
  event.respondWith({ name: 'Database', tools: [query, new Clock()] as const });
  event.respondWith(thenable);
  return nothing;
});

export const run = async (context: ToolContext): Promise<number> => {
  context.progress({ done: 1 });
  const groups: readonly ToolGroup[] = window.__dtmcp?.toolGroups ?? [];
  return groups.length + (await window.__dtmcp?.executeTool('clock'));
};
