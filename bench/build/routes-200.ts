/** A table of 200 routes as a real backend has them, requests for these routes, and other routers. */
import findMyWay from 'find-my-way'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { Memoirist } from 'memoirist'
import { addRoute, createRouter, findRoute } from 'rou3'

export interface PlainRoute {
  method: string
  path: string
}

/** Many names begin alike, because a tree of characters and a map of segments differ there. */
const resources = [
  'a',
  'tags',
  'users',
  'user-groups',
  'user-notification-settings',
  'orders',
  'order-lines',
  'order-returns',
  'organizations',
  'organization-members',
  'products',
  'product-variants',
  'product-reviews',
  'projects',
  'promotions',
  'customers',
  'customer-addresses',
  'carts',
  'categories',
  'invoices',
  'invoice-lines',
  'teams',
  'team-invitations',
  'subscriptions',
  'subscription-billing-schedules',
]

/** A literal stands before the parameter that it competes with, because hono matches in the order of registration. */
const shapes: PlainRoute[] = [
  { method: 'GET', path: '' },
  { method: 'POST', path: '' },
  { method: 'GET', path: '/search' },
  { method: 'GET', path: '/:id' },
  { method: 'PUT', path: '/:id' },
  { method: 'DELETE', path: '/:id' },
  { method: 'GET', path: '/:id/items' },
  { method: 'GET', path: '/:id/items/:itemId' },
]

export const routes200: PlainRoute[] = resources.flatMap((resource) =>
  shapes.map(({ method, path }) => ({ method, path: `/${resource}${path}` })),
)

const parametersOf = (path: string) => path.split(':').length - 1
const known = [0, 1, 2].map((count) => routes200.filter(({ path }) => parametersOf(path) === count))

/** Paths without a route: of no resource, below a resource, and similar to one. */
const misses = ['/unknown', '/orders/:id/nothing', '/users/:id/items/:itemId/more', '/order', '/subscription-billing']

/**
 * 35 % without parameters, 50 % with one, 10 % with two, 5 % that no route answers, in a fixed disorder.
 * Each path is a string of its own. A router that looks a path up as a key changes the string: V8 keeps its hash, or
 * replaces it by the one it has seen before. So each measurement makes a list of its own.
 */
export function lookups(count: number): PlainRoute[] {
  const random = createRandom(200)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const drawn = Array.from({ length: count }, (_, index): PlainRoute => {
    const share = index / count
    if (share >= 0.95) return { method: 'GET', path: pick(misses) }
    return pick(known[share < 0.35 ? 0 : share < 0.85 ? 1 : 2]!)
  })
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const moved = drawn[last]!
    drawn[last] = drawn[other]!
    drawn[other] = moved
  }
  return drawn.map(({ method, path }) => {
    const segments = path.split('/').map((segment) => (segment.startsWith(':') ? identifier(random) : segment))
    return { method, path: flat(segments.join('/')) }
  })
}

/** A number like a database's serial, or 16 hexadecimal digits. */
function identifier(random: () => number): string {
  const digits = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return random() < 0.5 ? String(Math.floor(random() * 1e6)) : digits() + digits()
}

/** A flat copy of a string, like one that a server decodes from the bytes of a request. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** mulberry32 gives the same numbers on every machine. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Peer {
  name: string
  /** @returns a function from method and path to the router's own result. Nothing is added or left out. */
  create(routes: readonly PlainRoute[]): (method: string, path: string) => unknown
}

/** Each router finds the route object with which it was registered. */
export const peers = {
  honoSmart: {
    name: 'hono SmartRouter',
    create(routes) {
      // as `new Hono()` does. Parameters stay where the expression has found them until a handler asks for one
      const router = new SmartRouter<PlainRoute>({ routers: [new RegExpRouter(), new TrieRouter()] })
      for (const route of routes) router.add(route.method, route.path, route)
      return (method, path) => router.match(method, path) // which the first call replaces
    },
  },
  honoTrie: {
    name: 'hono TrieRouter',
    create(routes) {
      const router = new TrieRouter<PlainRoute>()
      for (const route of routes) router.add(route.method, route.path, route)
      return (method, path) => router.match(method, path)
    },
  },
  memoirist: {
    name: 'memoirist',
    create(routes) {
      const router = new Memoirist<PlainRoute>()
      for (const route of routes) router.add(route.method, route.path, route)
      return (method, path) => router.find(method, path)
    },
  },
  findMyWay: {
    name: 'find-my-way',
    create(routes) {
      const router = findMyWay()
      for (const route of routes) router.on(route.method as findMyWay.HTTPMethod, route.path, () => route, route)
      return (method, path) => router.find(method as findMyWay.HTTPMethod, path)
    },
  },
  rou3: {
    name: 'rou3',
    create(routes) {
      const router = createRouter<PlainRoute>()
      for (const route of routes) addRoute(router, route.method, route.path, route)
      return (method, path) => findRoute(router, method, path)
    },
  },
} satisfies Record<string, Peer>
