/** The emitted matcher against a plain oracle, and the meaning of paths (contract 2.9). */
import { describe, expect, it } from 'vitest'
import { routes200 } from '../../bench/build/routes-200.ts'
import { matcherSource } from '../../build/emit/matcher.ts'
import { allowedMethods, findRoute, type Matcher } from '../../runtime/routes.ts'
import type { HttpError } from '../../src/sdk/errors.ts'

interface Declared {
  method: string
  path: string
}

/** Runs the emitted code as a bundle has it. @param prefix the path of a route's controller. */
function matcherOf(
  routes: readonly Declared[],
  prefix = (path: string) => path.split('/').slice(0, 2).join('/'),
): Matcher {
  const source = matcherSource(routes.map((route) => ({ ...route, prefix: prefix(route.path) })))
  return new Function(`${source}\nreturn match`)()
}

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The oracle: compares every route, and prefers a literal over a parameter. */
function oracle(routes: readonly Declared[], method: string, path: string): unknown {
  if (decoded(path) === undefined) return 400
  const trimmed = path.length > 2 && path.endsWith('/') && path.at(-2) !== '/' ? path.slice(0, -1) : path
  const segments = trimmed
    .split('/')
    .slice(1)
    .map((segment) => decoded(segment)!)
  const isFitting = (route: Declared) => {
    const parts = route.path.split('/').slice(1)
    return (
      parts.length === segments.length &&
      parts.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
    )
  }
  const fitting = routes.filter(isFitting)
  const wanted = fitting.filter((route) => route.method === (method === 'HEAD' ? 'GET' : method))
  const rank = ({ path: declared }: Declared) => declared.replace(/:[^/]+/g, '\uffff')
  const [best] = wanted.toSorted((a, b) => compareSegments(rank(a), rank(b)))
  if (!best) return fitting.length > 0 ? 405 : 404
  const values = best.path
    .split('/')
    .slice(1)
    .flatMap((part, index) => (part.startsWith(':') ? [segments[index]] : []))
  return [routes.indexOf(best), ...values]
}

function compareSegments(a: string, b: string): number {
  const [one, other] = [a.split('/'), b.split('/')]
  for (const [index, segment] of one.entries()) {
    const [isLast, isOtherLast] = [segment === '\uffff', other[index] === '\uffff']
    if (isLast !== isOtherLast) return isLast ? 1 : -1
  }
  return 0
}

function seen(match: Matcher, method: string, path: string): unknown {
  try {
    return findRoute(match, method, path)
  } catch (error) {
    return (error as HttpError).status
  }
}

/** @returns a generator that yields the same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

const paths = [
  '/',
  '/users',
  '/users/:id',
  '/users/me',
  '/users/:id/posts',
  '/users/me/posts/:post',
  '/:any/posts',
  '/a/:x/c',
  '/a/b/:y',
]
const routes = paths.flatMap((path) => [
  { method: 'GET', path },
  { method: 'POST', path },
])
const find = (method: string, path: string) => {
  const found = seen(matcherOf(routes), method, path)
  return Array.isArray(found) ? [routes[found[0]]!.path, ...found.slice(1)] : found
}

describe('2.9 what a path means', () => {
  it.each([
    ['/', ['/']],
    ['/users/', ['/users']],
    ['/users/me', ['/users/me']],
    ['/users/7', ['/users/:id', '7']],
    ['/users/me/posts', ['/users/:id/posts', 'me']],
    ['/users/me/posts/9', ['/users/me/posts/:post', '9']],
    ['/other/posts', ['/:any/posts', 'other']],
    ['/a/b/c', ['/a/b/:y', 'c']],
    ['/a/x/c', ['/a/:x/c', 'x']],
    ['/users/a%2Fb', ['/users/:id', 'a/b']],
    ['/users/a%252Fb', ['/users/:id', 'a%2Fb']],
    ['/users/%C3%A4', ['/users/:id', 'ä']],
    ['/%75sers/me', ['/users/me']],
    ['/users%2Fme', 404],
    ['/users/__proto__', ['/users/:id', '__proto__']],
    ['/users/ /', ['/users/:id', ' ']],
    ['/users//posts', 404],
    ['/users//', 404],
    ['//users', 404],
    ['//', 404],
    ['/Users', 404],
    ['/users/7/nothing', 404],
    ['/users/%', 400],
    ['/nothing/%ff', 400],
    ['/users/%ED%A0%80', 400],
  ])('GET %s', (path, expected) => {
    expect(find('GET', path)).toEqual(expected)
  })

  it('answers HEAD by GET, and another method by 405 with what there is', () => {
    const match = matcherOf([
      { method: 'GET', path: '/x' },
      { method: 'POST', path: '/x' },
      { method: 'PUT', path: '/y' },
      { method: 'DELETE', path: '/:z' },
    ])
    expect(seen(match, 'HEAD', '/x')).toEqual([0])
    expect(seen(match, 'HEAD', '/y')).toBe(405)
    expect(allowedMethods(match, '/x')).toBe('GET, HEAD, POST, DELETE, OPTIONS')
    expect(allowedMethods(match, '/y/')).toBe('PUT, DELETE, OPTIONS')
    expect(() => allowedMethods(match, '/x/y')).toThrow(expect.objectContaining({ status: 404 }))
    expect(() => findRoute(match, 'PATCH', '/x')).toThrow(
      expect.objectContaining({ status: 405, details: { headers: { allow: 'GET, HEAD, POST, DELETE, OPTIONS' } } }),
    )
  })

  it('a literal that lacks the method does not hide the parameter beside it', () => {
    const match = matcherOf([
      { method: 'GET', path: '/x/me' },
      { method: 'DELETE', path: '/x/:id' },
    ])
    expect(seen(match, 'DELETE', '/x/me')).toEqual([1, 'me'])
    expect(seen(match, 'GET', '/x/me')).toEqual([0])
    expect(seen(match, 'GET', '/x/you')).toBe(405)
  })

  it('controllers whose prefixes nest, share a beginning or hold parameters answer as one table', () => {
    const nested = [
      '/',
      '/:slug',
      '/user',
      '/users',
      '/users/:id',
      '/users/admins',
      '/users/:id/notes/:note',
      '/users/admins/notes/x',
    ]
    const declared = nested.map((path) => ({ method: 'GET', path }))
    const match = matcherOf(declared, (path) => path)
    for (const path of [
      '/',
      '/user',
      '/use',
      '/users',
      '/users/admins',
      '/users/1',
      '/users/admins/notes/x',
      '/users/admins/notes/y',
    ]) {
      expect([path, seen(match, 'GET', path)]).toEqual([path, oracle(declared, 'GET', path)])
    }
  })

  it('emits one function for each prefix', () => {
    const source = matcherSource(routes200.map((route) => ({ ...route, prefix: `/${route.path.split('/')[1]}` })))
    const prefixes = new Set(routes200.map(({ path }) => path.split('/')[1]))
    expect(source.match(/^function match\d+\(/gm)).toHaveLength(prefixes.size)
  })
})

describe('fuzzed against the oracle', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']

  /** Makes random tables of few words, so that literals and parameters collide. */
  function randomTable(random: (below: number) => number): Declared[] {
    const parts = ['a', 'ab', 'abc', 'b', 'users', 'user', 'me', 'x.y', 'a-b', ':p', ':p', ':p']
    const declared = new Map<string, Declared>()
    for (let count = 1 + random(14); count > 0; count--) {
      const segments = Array.from({ length: random(5) }, (_, index) =>
        parts[random(parts.length)]!.replace(':p', `:p${index}`),
      )
      const route = { method: methods[random(6)]!.replace('HEAD', 'GET'), path: `/${segments.join('/')}` }
      declared.set(`${route.method} ${route.path}`, route)
    }
    return [...declared.values()]
  }

  const words = [
    'a',
    'ab',
    'abc',
    'b',
    'users',
    'user',
    'me',
    'x.y',
    'a-b',
    '',
    '7',
    '%61',
    'a%2Fb',
    '%E2%82%AC',
    '%',
    '%zz',
    'usersx',
  ]

  function randomPath(random: (below: number) => number): string {
    const rare = random(4) === 0 ? words.length : 9
    const path = `/${Array.from({ length: random(6) }, () => words[random(rare)]).join('/')}`
    return random(6) === 0 ? `${path}/` : path
  }

  it('a million lookups in five hundred random tables, and not one mismatch', () => {
    const random = randomFrom(20_261_121)
    const mismatches: unknown[] = []
    let found = 0
    for (let table = 0; table < 500; table++) {
      const declared = randomTable(random)
      const match = matcherOf(declared, (path) => (random(2) === 0 ? path : path.split('/').slice(0, 2).join('/')))
      for (let lookup = 0; lookup < 2000; lookup++) {
        const near = declared[random(declared.length)]!
        const isNear = random(2) === 0
        const method = isNear ? near.method : methods[random(methods.length)]!
        const path = isNear ? near.path.replace(/:[^/]+/g, () => words[random(words.length)]!) : randomPath(random)
        const [own, expected] = [seen(match, method, path), oracle(declared, method, path)]
        if (Array.isArray(own)) found++
        if (JSON.stringify(own) !== JSON.stringify(expected)) mismatches.push({ declared, method, path, own, expected })
      }
    }
    expect(mismatches.slice(0, 3)).toEqual([])
    expect(found).toBeGreaterThan(100_000) // Most paths must match a route, or the test would prove little.
  })
})
