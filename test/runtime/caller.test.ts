/** The caller under which a request is counted (contract 5.7). */
import { describe, expect, it } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import { callerOf, networkOf } from '../../runtime/caller.ts'

const requestOf = (headers: Record<string, string>) => new Request('http://x/', { headers })
const caller = (headers: Record<string, string>, subject?: string) =>
  callerOf({ subject, request: requestOf(headers) } as Call)

describe('the caller', () => {
  it('is the user of a verified token, else the address that the platform saw', () => {
    expect(caller({ 'cf-connecting-ip': '192.0.2.1' }, 'usr_1')).toBe('user usr_1')
    expect(caller({ 'cf-connecting-ip': '192.0.2.1' })).toBe('ip 192.0.2.1')
  })

  it('is named by the calling worker only where the request came over a service binding', () => {
    expect(caller({ 'x-stack-caller': 'user usr_1' })).toBe('for user usr_1')
    expect(caller({})).toBe('for a service')
    expect(caller({ 'x-stack-caller': 'user usr_1', 'cf-connecting-ip': '192.0.2.1' })).toBe('ip 192.0.2.1')
  })
})

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:02::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['', ''],
  ])('%s: %s', (address, network) => {
    expect(networkOf(requestOf({ 'cf-connecting-ip': address }))).toBe(network)
  })
})
