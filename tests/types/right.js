/// <reference path="../../page_shims/devtools-tools.d.ts" />
// A page in plain JavaScript with JSDoc.

window.addEventListener('devtoolstooldiscovery', (event) => {
  event.respondWith({
    name: 'Cart',
    tools: [
      { name: 'total', description: 'What there is to pay', inputSchema: {}, execute: () => 12 },
      {
        name: 'add',
        description: 'Put something in',
        inputSchema: { type: 'object', properties: { price: { type: 'number', 'x-unit': 'EUR' } } },
        execute: async ({ price }, context) => {
          context?.progress({ done: 0, total: 1, message: 'on its way' });
          const response = await fetch('/cart', { method: 'POST', body: `${price}`, signal: context?.signal ?? null });
          return response.json();
        },
      },
    ],
  });
});

/** @type {ToolDefinition<{path: string}>} */
const state = {
  name: 'state',
  description: 'One value of the state',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => path.length,
};

/** @returns {Promise<ToolGroup>} */
const later = async () => ({ name: 'Later', description: 'Built when asked for', tools: [state] });

/** @param {DevtoolsToolDiscoveryEvent} event */
function answer(event) {
  event.respondWith(later());
}
addEventListener('devtoolstooldiscovery', answer);
removeEventListener('devtoolstooldiscovery', answer);

window.__dtmcp?.executeTool('state', { path: 'cart.total' }).then((value) => value.anything);
