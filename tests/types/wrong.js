/// <reference path="../../page_shims/devtools-tools.d.ts" />
// Mistakes of a page in plain JavaScript that the types must find.

window.addEventListener('devtoolstooldiscovery', (event) => {
  // @ts-expect-error a group is expected
  event.respondWith();

  // @ts-expect-error one group is expected, not a list of them
  event.respondWith([{ name: 'Cart', tools: [] }]);

  // @ts-expect-error a group has tools
  event.respondWith({ name: 'Cart' });

  // @ts-expect-error the promise must be of a group
  event.respondWith(fetch('/tools'));

  event.respondWith({
    name: 'Cart',
    tools: [
      // @ts-expect-error a tool has a description
      { name: 'total', inputSchema: {}, execute: () => 12 },
      // @ts-expect-error a tool can be run
      { name: 'total', description: '', inputSchema: {} },
      // @ts-expect-error a name is text
      { name: 7, description: '', inputSchema: {}, execute: () => 12 },
      // @ts-expect-error a schema is an object, not its JSON
      { name: 'total', description: '', inputSchema: '{}', execute: () => 12 },
      // @ts-expect-error the old name of inputSchema
      { name: 'total', description: '', parameters: {}, execute: () => 12 },
    ],
  });
});

/** @type {ToolDefinition<{path: string}>} */
const state = {
  name: 'state',
  description: 'One value of the state',
  inputSchema: {},
  // @ts-expect-error the input has no such property
  execute: ({ route }) => route,
};

// @ts-expect-error the event is misspelt, so it is any event
window.addEventListener('devtooltooldiscovery', (event) => event.respondWith({ name: 'Cart', tools: [state] }));

// @ts-expect-error it is there only once the page has offered a tool
window.__dtmcp.executeTool('state');
