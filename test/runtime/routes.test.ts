/** Which route a request meets; hono's trie is the oracle. */
import { TrieRouter } from 'hono/router/trie-router'
import { describe, expect, it } from 'vitest'
import { createMatcher } from '../../runtime/routes.ts'
import type { Method, Route } from '../../runtime/table.ts'
import type { HttpError } from '../../src/sdk/errors.ts'

function route(method: Method, path: string): Route {
  const rest = { controller: 0, handler: 'h', file: 'f', line: 1, readsGrants: false, status: 200, parameters: [] }
  return { method, path, gate: { required: false, decidedBy: 'route' }, ...rest }
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
const routes = paths.flatMap((path) => [route('GET', path), route('POST', path)])
const find = createMatcher(routes)

function seen(method: string, path: string): unknown {
  try {
    const { route, parameters } = find(method, path)
    return [route.path, { ...parameters }]
  } catch (error) {
    return (error as HttpError).status
  }
}

describe('createMatcher', () => {
  it.each([
    ['/', ['/', {}]],
    ['/users/', ['/users', {}]],
    ['/users/me', ['/users/me', {}]],
    ['/users/7', ['/users/:id', { id: '7' }]],
    ['/users/me/posts', ['/users/:id/posts', { id: 'me' }]],
    ['/users/me/posts/9', ['/users/me/posts/:post', { post: '9' }]],
    ['/other/posts', ['/:any/posts', { any: 'other' }]],
    ['/a/b/c', ['/a/b/:y', { y: 'c' }]],
    ['/a/x/c', ['/a/:x/c', { x: 'x' }]],
    ['/users/a%2Fb', ['/users/:id', { id: 'a/b' }]],
    ['/users/%C3%A4', ['/users/:id', { id: 'ä' }]],
    ['/users/__proto__', ['/users/:id', { id: '__proto__' }]],
    ['/users//posts', 404],
    ['//users', 404],
    ['/Users', 404],
    ['/users/7/nothing', 404],
    ['/users/%', 400],
  ])('GET %s', (path, expected) => {
    expect(seen('GET', path)).toEqual(expected)
  })

  it('answers HEAD by GET, and another method by 405 with what there is', () => {
    expect(seen('HEAD', '/users/7')).toEqual(['/users/:id', { id: '7' }])
    expect(seen('DELETE', '/users/7')).toBe(405)
    try {
      createMatcher([route('POST', '/x')])('GET', '/x')
    } catch (error) {
      expect((error as HttpError).details.headers).toEqual({ allow: 'POST' })
    }
  })

  it('a parameter that only some methods have does not hide a literal’s other methods', () => {
    const mixed = createMatcher([route('GET', '/x/me'), route('DELETE', '/x/:id')])
    expect(mixed('DELETE', '/x/me').route.path).toBe('/x/:id')
    expect(mixed('GET', '/x/me').route.path).toBe('/x/me')
  })

  it('finds something exactly where hono does, over ten thousand paths', () => {
    const oracle = new TrieRouter<string>()
    for (const { method, path } of routes) oracle.add(method, path, path)
    const words = ['users', 'me', 'posts', 'a', 'b', 'c', '7', 'x']
    let state = 7
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) % 2147483648
      return state % below
    }
    for (let i = 0; i < 10_000; i++) {
      const path = `/${Array.from({ length: random(5) }, () => words[random(words.length)]).join('/')}`
      const candidates = oracle.match('GET', path)[0].map(([name]) => name)
      const own = seen('GET', path)
      if (candidates.length === 0) expect([path, own]).toEqual([path, 404])
      else expect([path, candidates]).toEqual([path, expect.arrayContaining([(own as [string])[0]])])
    }
  })
})
