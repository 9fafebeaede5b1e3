import { conflict, defineApp, endpointsOf, notFound, pageOf, results, undoneByNewId, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Item = { readonly price: number; readonly inCart: boolean; readonly wished: boolean }
export type Order = { readonly item: string; readonly refunded: boolean }
export type Review = { readonly item: string; readonly stars: number }

export interface ShopState {
  readonly items: Collection<Item>
  readonly orders: Collection<Order>
  readonly reviews: Collection<Review>
}

const open = ({ journal, rng, draw }: Opening): ShopState => {
  const state: ShopState = {
    items: new Collection<Item>('shop.items', journal, 'i', 1),
    orders: new Collection<Order>('shop.orders', journal, 'o', rng.int(10, 70)),
    reviews: new Collection<Review>('shop.reviews', journal, 'v', rng.int(10, 70)),
  }
  const count = rng.int(2, 5)
  for (let i = 0; i < count; i++) {
    const item = state.items.seed({ price: draw.amount(), inCart: false, wished: false }, draw.item())
    if (rng.chance(0.6)) state.orders.seed({ item, refunded: false })
  }
  return state
}

const { read, write } = endpointsOf<ShopState>()

const setFlag =
  (flag: 'inCart' | 'wished', value: boolean, done: string) => (s: ShopState, a: { readonly item: string }) => {
    const item = s.items.get(a.item)
    if (item === undefined) return notFound
    if (item[flag] === value) return conflict(value ? 'already there' : 'not there')
    s.items.put(a.item, { ...item, [flag]: value })
    return done.replace('{}', a.item)
  }

/** A shop with a cart, a wish list and orders. */
export const shop = defineApp<ShopState>('shop', open, {
  list: read({
    does: 'lists past orders',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.orders.entries().map(([id, o]) => `${id} ${o.item}`),
        a.page,
      ),
  }),
  search: read({
    does: 'shows an item and its price',
    params: { item: 'text' },
    run: (s, a) => {
      const item = s.items.get(a.item)
      return item === undefined ? 'no results' : `1 result: ${a.item} costs ${item.price}`
    },
  }),
  orders: read({
    does: 'finds orders of an item',
    params: { item: 'text' },
    run: (s, a) => results(s.orders.where((o) => o.item === a.item).map(([id, o]) => `${id} ${o.item}`)),
  }),
  cart: write({
    does: 'puts an item in the cart',
    params: { item: 'text' },
    run: setFlag('inCart', true, '{} is in the cart'),
    undo: undoneBySame('uncart'),
  }),
  uncart: write({
    does: 'takes an item out of the cart',
    params: { item: 'text' },
    run: setFlag('inCart', false, '{} left the cart'),
    undo: undoneBySame('cart'),
  }),
  wish: write({
    does: 'puts an item on the wish list',
    params: { item: 'text' },
    run: setFlag('wished', true, '{} is on the wish list'),
    undo: undoneBySame('unwish'),
  }),
  unwish: write({
    does: 'takes an item off the wish list',
    params: { item: 'text' },
    run: setFlag('wished', false, '{} left the wish list'),
    undo: undoneBySame('wish'),
  }),
  order: write({
    does: 'orders an item',
    params: { item: 'text' },
    run: (s, a) => {
      if (s.items.get(a.item) === undefined) return notFound
      return `order ${s.orders.add({ item: a.item, refunded: false })} for ${a.item}`
    },
    undo: undoneByNewId('cancel'),
  }),
  cancel: write({
    does: 'cancels an order for good',
    params: { id: 'id' },
    run: (s, a) => {
      const order = s.orders.get(a.id)
      if (order === undefined) return notFound
      s.orders.remove(a.id)
      return `cancelled ${a.id} for ${order.item}`
    },
  }),
  refund: write({
    does: 'sends an item back for money',
    params: { id: 'id' },
    run: (s, a) => {
      const order = s.orders.get(a.id)
      if (order === undefined) return notFound
      if (order.refunded) return conflict('already refunded')
      s.orders.put(a.id, { ...order, refunded: true })
      return `refunded ${a.id} for ${order.item}`
    },
  }),
  review: write({
    does: 'publishes a rating',
    params: { item: 'text', stars: 'stars' },
    run: (s, a) => {
      if (s.items.get(a.item) === undefined) return notFound
      s.reviews.add({ item: a.item, stars: a.stars })
      return `${a.item} rated ${a.stars}`
    },
  }),
})
