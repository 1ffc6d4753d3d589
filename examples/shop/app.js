// @ts-check
/** The shop's page: its state, what people do with it, and how it looks. */

import { read, send } from './api.js';
import { offerTools } from './tools.js';

/**
 * @typedef {{sku: string, name: string, note: string, priceCents: number}} Product
 * @typedef {{sku: string, quantity: number}} Line
 * @typedef {{coupon: string | null, subtotalCents: number, discountCents: number, taxCents: number, totalCents: number}} Quote
 */

const state = {
  /** @type {{id: number, name: string} | null} */
  customer: null,
  cart: { lines: /** @type {Line[]} */ ([]), coupon: /** @type {string | null} */ (null) },
  /** @type {Record<string, {enabled: boolean, since: string}>} */
  flags: {},
  /** @type {Product[]} */
  products: [],
  /** @type {Product[]} */
  related: [],
  /** @type {Quote | null} */
  quote: null,
  checkout: { status: 'open', orderId: /** @type {number | null} */ (null) },
  /** @type {string | null} */
  lastError: null,
};

const MOST_OF_ONE = 99;
const money = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' });

// --- what happens ---

offerTools(state, load());

async function load() {
  await attempt(async () => {
    const [session, flags] = await Promise.all([read('/api/session'), read('/api/flags')]);
    state.customer = session.customer;
    state.cart = session.cart;
    state.flags = flags;
    await Promise.all([loadCart(), loadRelated()]);
  });
}

async function loadCart() {
  state.products = await read('/api/products');
  await changeCart(state.cart);
}

async function loadRelated() {
  if (state.flags.relatedProducts?.enabled) state.related = await read('/api/products');
}

let changes = 0;

/**
 * Take a new cart once the server has priced it; if it refuses, the old one stays.
 * @param {typeof state.cart} cart
 */
async function changeCart(cart) {
  const change = (changes += 1);
  const quote = await send('/api/quote', cart);
  if (change !== changes) return;
  state.cart = cart;
  state.quote = quote;
  state.checkout = { status: 'open', orderId: null };
  render();
}

/**
 * @param {string} sku
 * @param {number} quantity 0 takes the product out
 */
function setQuantity(sku, quantity) {
  const { lines, coupon } = state.cart;
  const known = lines.some(line => line.sku === sku);
  const next = known ? lines.map(line => (line.sku === sku ? { sku, quantity } : line)) : [...lines, { sku, quantity }];
  return attempt(() => changeCart({ lines: next.filter(line => line.quantity > 0), coupon }));
}

/** @param {string} text what was typed; nothing takes the coupon off */
function setCoupon(text) {
  return attempt(() => changeCart({ lines: state.cart.lines, coupon: text.trim().toUpperCase() || null }));
}

function placeOrder() {
  return attempt(async () => {
    state.checkout = { status: 'sending', orderId: null };
    render();
    const { orderId } = await send('/api/orders', state.cart);
    await changeCart({ lines: [], coupon: null });
    state.checkout = { status: 'placed', orderId };
  });
}

/**
 * Do something that may fail, and show the failure to the person who asked for it.
 * @param {() => Promise<void>} action
 */
async function attempt(action) {
  state.lastError = null;
  try {
    await action();
  } catch (error) {
    state.lastError = error instanceof Error ? error.message : String(error);
    if (state.checkout.status === 'sending') state.checkout.status = 'open';
  }
  render();
}

// --- how it looks ---

/**
 * @param {string} id
 * @returns {any} the element of that id, of whatever kind
 */
function find(id) {
  return document.getElementById(id);
}

/**
 * @param {string} template id
 * @param {Record<string, string>} texts by the `data-text` of the element that shows it
 * @returns {HTMLElement}
 */
function stamp(template, texts) {
  const element = find(template).content.firstElementChild.cloneNode(true);
  for (const [name, text] of Object.entries(texts)) element.querySelector(`[data-text=${name}]`).textContent = text;
  return element;
}

/** @param {number} cents */
function euros(cents) {
  return money.format(cents / 100);
}

function render() {
  const { customer, cart, quote, checkout, flags, lastError } = state;
  const count = cart.lines.reduce((sum, line) => sum + line.quantity, 0);
  find('customer').textContent = customer ? customer.name : '';
  find('count').textContent = count === 1 ? '1 item' : `${count} items`;
  find('gift-note').hidden = !flags.giftNote?.enabled;
  find('error').hidden = !lastError;
  find('error').textContent = lastError ?? '';
  find('placed').hidden = checkout.status !== 'placed';
  find('placed').textContent = `Thank you. Your order has the number ${checkout.orderId}.`;
  find('order').disabled = checkout.status !== 'open' || !count;
  find('empty').hidden = count > 0 || !quote;
  find('lines').replaceChildren(...cart.lines.map(renderLine));
  if (quote) renderQuote(quote);
  renderRelated();
}

/** @param {Quote} quote */
function renderQuote(quote) {
  find('subtotal').textContent = euros(quote.subtotalCents);
  find('discount-row').hidden = !quote.coupon;
  find('discount-label').textContent = `Coupon ${quote.coupon}`;
  find('discount').textContent = `−${euros(quote.discountCents)}`;
  find('total').textContent = euros(quote.totalCents);
}

/** @param {Line} line */
function renderLine({ sku, quantity }) {
  const product = state.products.find(other => other.sku === sku);
  if (!product) return '';
  const row = stamp('line', {
    name: product.name,
    note: product.note,
    each: `${euros(product.priceCents)} each`,
    quantity: String(quantity),
    amount: euros(product.priceCents * quantity),
  });
  drawPicture(row, sku);
  onClick(row, 'less', `One ${product.name} less`, () => setQuantity(sku, quantity - 1));
  onClick(row, 'more', `One ${product.name} more`, () => setQuantity(sku, quantity + 1)).disabled = quantity >= MOST_OF_ONE;
  onClick(row, 'remove', `Remove ${product.name}`, () => setQuantity(sku, 0));
  return row;
}

function renderRelated() {
  const others = state.related.filter(product => !state.cart.lines.some(line => line.sku === product.sku));
  find('related').hidden = !others.length;
  find('related-products').replaceChildren(...others.map(renderCard));
}

/** @param {Product} product */
function renderCard({ sku, name, note, priceCents }) {
  const card = stamp('card', { name, note, price: euros(priceCents) });
  drawPicture(card, sku);
  onClick(card, 'add', `Add ${name} to the cart`, () => setQuantity(sku, 1));
  return card;
}

/**
 * @param {HTMLElement} element
 * @param {string} sku
 */
function drawPicture(element, sku) {
  element.querySelector('use')?.setAttribute('href', `#picture-${sku}`);
}

/**
 * @param {HTMLElement} element
 * @param {string} action the `data-action` of the button
 * @param {string} label for those who do not see the button
 * @param {() => void} handler
 */
function onClick(element, action, label, handler) {
  const button = /** @type {HTMLButtonElement} */ (element.querySelector(`[data-action=${action}]`));
  button.setAttribute('aria-label', label);
  button.addEventListener('click', handler);
  return button;
}

find('order').addEventListener('click', placeOrder);
find('coupon-form').addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  setCoupon(find('coupon').value).then(() => (find('coupon').value = ''));
});
