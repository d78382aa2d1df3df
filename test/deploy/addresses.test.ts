/** The address of a client behind trusted proxies, and the labels of its requests. */
import { describe, expect, it } from 'vitest'
import { trustedNetworks } from '../../deploy/serve/proxies.ts'
import { clientOf, createMatcher } from '../../deploy/workers/addresses.ts'
import { createRouteLabels } from '../../deploy/workers/route-labels.ts'

describe('the client of a request', () => {
  const isTrusted = createMatcher(trustedNetworks('loopback, 10.0.0.0/8, 2001:db8::/32'))
  const cases: [string, string, string | null, string][] = [
    ['without a header, the peer', '127.0.0.1', null, '127.0.0.1'],
    ['from a stranger, the peer', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['from a proxy, what it saw', '127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['through two proxies, what the first saw', '127.0.0.1', '198.51.100.7, 10.1.2.3', '198.51.100.7'],
    ['never what a client wrote before', '127.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['with a port', '127.0.0.1', '198.51.100.7:5000', '198.51.100.7'],
    ['of IPv6', '::1', '[2001:db9::1]:5000', '2001:db9::1'],
    ['of IPv6 without brackets', '::1', '2001:db9::1', '2001:db9::1'],
    ['of an IPv4 address in IPv6', '::ffff:127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['text is no address', '127.0.0.1', 'unknown', '127.0.0.1'],
    ['text behind a proxy is none', '127.0.0.1', '<script>, 10.1.2.3', '10.1.2.3'],
    ['all trusted: the first', '127.0.0.1', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  ]
  it.each(cases)('%s', (_, peer, forwarded, client) => {
    expect(clientOf(peer, forwarded, isTrusted)).toBe(client)
  })

  it('nothing is trusted unless it is named', () => {
    expect(clientOf('127.0.0.1', '198.51.100.7', createMatcher([]))).toBe('127.0.0.1')
  })

  it.each(['nonsense', '10.0.0.0/33', '1.2.3', 'constructor'])('%s is no proxy', (text) => {
    expect(() => trustedNetworks(text)).toThrow('--trust-proxy')
  })
})

describe('the label of a route', () => {
  const labelOf = createRouteLabels([
    { worker: 'backend', method: 'GET', path: '/orders/:id' },
    { worker: 'backend', method: 'GET', path: '/orders/summary' },
    { worker: 'backend', method: 'GET', path: '/' },
    { worker: 'auth', method: 'POST', path: '/orders/:id' },
  ])
  it.each([
    ['backend', 'GET', '/orders/7', '/orders/:id'],
    ['backend', 'HEAD', '/orders/7', '/orders/:id'],
    ['backend', 'GET', '/orders/7/', '/orders/:id'],
    ['backend', 'GET', '/orders/summary', '/orders/summary'],
    ['backend', 'GET', '/', '/'],
    ['backend', 'POST', '/orders/7', 'other'],
    ['auth', 'POST', '/orders/7', '/orders/:id'],
    ['backend', 'GET', '/orders/7/8', 'other'],
  ] as const)('%s %s %s', (worker, method, path, label) => {
    expect(labelOf(worker, method, path)).toBe(label)
  })
})
