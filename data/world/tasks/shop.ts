import { shop } from '../apps/shop.ts'
import type { Item } from '../apps/shop.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds an item, neither in the cart nor wished for. */
export const seedItem = (world: World, item: string, extra: Partial<Item> = {}): void => {
  world.state(shop).items.seed({ price: 20, inCart: false, wished: false, ...extra }, item)
}

const seedOrder = (world: World, item: string): void => {
  seedItem(world, item)
  world.state(shop).orders.seed({ item, refunded: false })
}

function* lookThen(item: string, endpoint: `shop.${string}`): Solution {
  yield [call('shop.search', { item })]
  yield [call(endpoint, { item })]
}

function* onOrder(item: string, endpoint: `shop.${string}`): Solution {
  const found = yield [call('shop.orders', { item })]
  yield [call(endpoint, { id: idOf(found) })]
}

export const shopTasks = [
  defineTask({
    id: 'shop.price',
    apps: ['shop'],
    draw: (d) => ({ item: d.item(), amount: d.amount() }),
    texts: ['How much is the {item}?', 'Look up the price of the {item}.'],
    setup: (w, p) => seedItem(w, p.item, { price: p.amount }),
    solve: function* (p): Solution {
      yield [call('shop.search', { item: p.item })]
    },
  }),
  defineTask({
    id: 'shop.ordered',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Did I order the {item}?', 'Find my order of the {item}.'],
    setup: (w, p) => seedOrder(w, p.item),
    solve: function* (p): Solution {
      yield [call('shop.orders', { item: p.item })]
    },
  }),
  defineTask({
    id: 'shop.cart',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Put the {item} in my cart.', 'Add the {item} to the cart.'],
    setup: (w, p) => seedItem(w, p.item),
    solve: (p) => lookThen(p.item, 'shop.cart'),
    goals: () => [changed('shop.items', { inCart: false }, { inCart: true })],
  }),
  defineTask({
    id: 'shop.uncart',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Take the {item} out of my cart.', 'Remove the {item} from the cart.'],
    setup: (w, p) => seedItem(w, p.item, { inCart: true }),
    solve: (p) => lookThen(p.item, 'shop.uncart'),
    goals: () => [changed('shop.items', { inCart: true }, { inCart: false })],
  }),
  defineTask({
    id: 'shop.wish',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Put the {item} on my wish list.', 'Wish for the {item}.'],
    setup: (w, p) => seedItem(w, p.item),
    solve: (p) => lookThen(p.item, 'shop.wish'),
    goals: () => [changed('shop.items', { wished: false }, { wished: true })],
  }),
  defineTask({
    id: 'shop.unwish',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Take the {item} off my wish list.', 'I no longer wish for the {item}.'],
    setup: (w, p) => seedItem(w, p.item, { wished: true }),
    solve: (p) => lookThen(p.item, 'shop.unwish'),
    goals: () => [changed('shop.items', { wished: true }, { wished: false })],
  }),
  defineTask({
    id: 'shop.order',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Order the {item}.', 'Buy the {item} for me.'],
    setup: (w, p) => seedItem(w, p.item),
    solve: (p) => lookThen(p.item, 'shop.order'),
    goals: (p) => [created('shop.orders', { item: p.item })],
  }),
  defineTask({
    id: 'shop.cancel',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Cancel my order of the {item}.', 'I do not want the {item} I ordered.'],
    setup: (w, p) => seedOrder(w, p.item),
    solve: (p) => onOrder(p.item, 'shop.cancel'),
    goals: (p) => [removed('shop.orders', { item: p.item })],
  }),
  defineTask({
    id: 'shop.refund',
    apps: ['shop'],
    draw: (d) => ({ item: d.item() }),
    texts: ['Send the {item} back for a refund.', 'Get my money back for the {item}.'],
    setup: (w, p) => seedOrder(w, p.item),
    solve: (p) => onOrder(p.item, 'shop.refund'),
    goals: (p) => [changed('shop.orders', { item: p.item, refunded: false }, { refunded: true })],
  }),
  defineTask({
    id: 'shop.review',
    apps: ['shop'],
    draw: (d) => ({ item: d.item(), stars: d.stars() }),
    texts: ['Rate the {item} with {stars} stars.', 'Give the {item} {stars} stars.'],
    setup: (w, p) => seedItem(w, p.item),
    solve: function* (p): Solution {
      yield [call('shop.review', { item: p.item, stars: p.stars })]
    },
    goals: (p) => [created('shop.reviews', { item: p.item, stars: p.stars })],
  }),
]
