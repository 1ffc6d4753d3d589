/** A small Angular application in development mode: Angular itself offers its tools in it. */

// The compiler goes along: without a build step of Angular's own, decorators are compiled in the page.
import '@angular/compiler';
import { Component, Injectable, computed, effect, inject, provideZonelessChangeDetection, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';

@Injectable({ providedIn: 'root' })
class Cart {
  readonly prices = signal([4, 8], { debugName: 'prices' });
  readonly total = computed(() => this.prices().reduce((sum, price) => sum + price, 0), { debugName: 'total' });

  add(price: number): void {
    this.prices.update((prices) => [...prices, price]);
  }
}

@Component({
  selector: 'app-cart',
  template: `<output>{{ cart.total() }}</output> <button (click)="cart.add(15)">Add</button>`,
})
class CartView {
  readonly cart = inject(Cart);

  constructor() {
    effect(() => (document.title = `${this.cart.total()} to pay`), { debugName: 'showTotal' });
  }
}

@Component({ selector: 'app-root', imports: [CartView], template: '<app-cart />' })
class App {}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] }).catch(console.error);
