// @ts-check
/** The tools that this page offers to agents: what the shop knows and does not show. */

import { cacheStatistics, request } from './api.js';

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {object} inputSchema JSON Schema 7
 * @property {(input: any) => unknown} execute
 */

/** @typedef {Event & {respondWith: (group: {name: string, description: string, tools: Tool[]}) => void}} DiscoveryEvent */

/**
 * Answer everyone who asks this page for its tools.
 * @param {Record<string, unknown>} state the shop's whole state
 * @param {Promise<void>} loaded settled once the state is complete; tools that read it wait for that
 */
export function offerTools(state, loaded) {
  /** @type {Tool[]} */
  const tools = [
    {
      name: 'add',
      description: 'Add two numbers, for example to check an amount in cents.',
      inputSchema: {
        type: 'object',
        properties: {
          a: { type: 'number', description: 'First summand' },
          b: { type: 'number', description: 'Second summand' },
        },
        required: ['a', 'b'],
      },
      execute: ({ a, b }) => a + b,
    },
    {
      name: 'getCacheStatistics',
      description:
        'Hits, misses and bypasses of the API cache since the page was loaded, in all and for each path. ' +
        'Tells whether a value on the page came fresh from the server or could be stale.',
      inputSchema: {},
      execute: async () => {
        await loaded;
        return cacheStatistics();
      },
    },
    {
      name: 'getFeatureFlags',
      description:
        'Feature flags of this session: whether each is enabled, and since which day it is in that position. ' +
        'Compare the day with the dates of orders to see what a flag changed.',
      inputSchema: { type: 'object', properties: {} },
      execute: async () => {
        await loaded;
        return state.flags;
      },
    },
    {
      name: 'getGlobalState',
      description:
        'Read one value of the shop\'s state by its path. At the top are customer, cart, quote (what the ' +
        'server calculated; amounts are in cents), flags, products, related, checkout and lastError. ' +
        'Gives undefined if nothing is at that path.',
      inputSchema: {
        type: 'object',
        properties: {
          path: {
            type: 'string',
            description: 'Keys and list positions joined with dots, for example "quote" or "cart.lines.0.sku"',
          },
        },
        required: ['path'],
      },
      execute: async ({ path }) => {
        await loaded;
        return valueAt(state, path);
      },
    },
    {
      name: 'queryDatabaseTable',
      description:
        'Read rows of a table in the shop\'s database, read-only. Tables: orders (newest first; amounts in cents), ' +
        'products, coupons. Also gives the number of all rows of the table.',
      inputSchema: {
        type: 'object',
        properties: {
          tableName: { type: 'string', description: 'Name of the table, for example "orders"' },
          limit: { type: 'integer', minimum: 1, maximum: 50, default: 5, description: 'Most rows to give' },
        },
        required: ['tableName'],
      },
      execute: ({ tableName, limit = 5 }) =>
        request(`/debug/table?name=${encodeURIComponent(tableName)}&limit=${encodeURIComponent(limit)}`),
    },
  ];

  window.addEventListener('devtoolstooldiscovery', event => {
    /** @type {DiscoveryEvent} */ (event).respondWith({
      name: 'Kettle & Leaf shop',
      description: 'What the shop knows beyond the rendered page: its state, API cache, feature flags and database.',
      tools,
    });
  });
}

/**
 * Follow a path of own keys: what a value inherits, such as a list's `map`, is not part of the state.
 * @param {unknown} root
 * @param {string} path
 * @returns {unknown} undefined when nothing is there
 */
function valueAt(root, path) {
  /** @type {any} */
  let value = root;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Object.prototype.hasOwnProperty.call(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
