/// <reference path="../../page_shims/devtools-tools.d.ts" />
// Mistakes of a page in TypeScript that the types must find.

export const tool: ToolDefinition<{ price: number }> = {
  name: 'add',
  description: 'Put something in',
  inputSchema: {},
  execute(input, context) {
    // @ts-expect-error a price is a number
    input.price.trim();
    // @ts-expect-error another bridge gives no context
    context.progress({ done: 1 });
    // @ts-expect-error how far it is must be said in numbers
    context?.progress({ done: '1' });
    // @ts-expect-error how far it is must be said
    context?.progress({ message: 'half way' });
    // @ts-expect-error only whoever waits can give up
    if (context) context.signal = AbortSignal.abort();
  },
};

// @ts-expect-error nothing may be misspelt
export const group: ToolGroup = { name: 'Cart', describtion: 'A shop', tools: [tool] };

// @ts-expect-error arguments are an object
window.__dtmcp?.executeTool('add', 15);
