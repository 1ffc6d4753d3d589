// @ts-check
/** The shop's API client. What it reads it keeps for a minute; what it sends always reaches the server. */

const TIME_TO_LIVE_SECONDS = 60;

/** @typedef {{hits: number, misses: number, bypasses: number}} Counts */

/** @type {Map<string, {answer: Promise<any>, endsAt: number}>} */
const kept = new Map();

/** @type {Map<string, Counts>} */
const countsByPath = new Map();

/**
 * Read from the API, or from the cache if the same path was read within the last minute.
 * @param {string} path
 * @returns {Promise<any>}
 */
export function read(path) {
  const entry = kept.get(path);
  if (entry && performance.now() < entry.endsAt) {
    countsOf(path).hits += 1;
    return entry.answer;
  }
  countsOf(path).misses += 1;
  const answer = request(path, { method: 'GET' });
  kept.set(path, { answer, endsAt: performance.now() + TIME_TO_LIVE_SECONDS * 1000 });
  answer.catch(() => kept.delete(path));
  return answer;
}

/**
 * Send JSON to the API, past the cache.
 * @param {string} path
 * @param {object} body
 * @returns {Promise<any>}
 */
export function send(path, body) {
  countsOf(path).bypasses += 1;
  return request(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

/**
 * Ask the server for JSON; a refusal becomes an error with the server's own words.
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
export async function request(path, options) {
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** What the cache did since the page was loaded, in all and for each path. */
export function cacheStatistics() {
  const paths = [...countsByPath].sort(([a], [b]) => (a < b ? -1 : 1));
  /** @param {keyof Counts} key */
  const sum = key => paths.reduce((total, [, counts]) => total + counts[key], 0);
  return {
    timeToLiveSeconds: TIME_TO_LIVE_SECONDS,
    entries: kept.size,
    hits: sum('hits'),
    misses: sum('misses'),
    bypasses: sum('bypasses'),
    paths: Object.fromEntries(paths.map(([path, counts]) => [path, { ...counts }])),
  };
}

/**
 * @param {string} path
 * @returns {Counts}
 */
function countsOf(path) {
  let counts = countsByPath.get(path);
  if (!counts) countsByPath.set(path, (counts = { hits: 0, misses: 0, bypasses: 0 }));
  return counts;
}
