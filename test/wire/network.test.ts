/** Which hosts lie on this machine or in a private network, and what follows for the settings of mail. */
import { describe, expect, it } from 'vitest'
import { isPrivateHost } from '../../src/wire/network.ts'
import { readSettings } from '../../src/wire/settings.ts'

const hosts: [string, boolean][] = [
  ['localhost', true],
  ['smtp.localhost', true],
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['128.0.0.1', false],
  ['::1', true],
  ['::2', false],
  ['10.0.0.1', true],
  ['11.0.0.1', false],
  ['172.15.0.1', false],
  ['172.16.0.1', true],
  ['172.31.255.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['192.169.1.1', false],
  ['169.254.169.254', false],
  ['0.0.0.0', false],
  ['010.0.0.1', false],
  ['10.0.0.256', false],
  ['10.1', false],
  ['fc00::1', true],
  ['FD12:3456::1', true],
  ['fe80::1', false],
  ['fbff::1', false],
  ['2001:db8::1', false],
  ['::ffff:10.0.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['mail', true],
  ['mail_server', true],
  ['mail.example.com', false],
  ['mail.', false],
  ['2130706433', false],
  ['0x7f000001', false],
  ['localhost.example.com', false],
  [':', false],
  ['', false],
]

describe('a private host', () => {
  it.each(hosts)('%s: %s', (host, isPrivate) => {
    expect(isPrivateHost(host)).toBe(isPrivate)
  })
})

describe('settings of mail', () => {
  const fields = (mail: object) => readSettings({ mail: { from: 'shop@example.com', ...mail } }).errors
  const smtp = (host: string, security?: string) =>
    fields({ transport: 'smtp', host, port: 25, ...(security && { security }) })

  it.each(hosts.filter(([host]) => host !== ''))('"none" to %s: %s', (host, isPrivate) => {
    expect(smtp(host, 'none').length).toBe(isPrivate ? 0 : 1)
    expect(smtp(host, 'starttls')).toEqual([])
    expect(smtp(host)).toEqual([])
  })

  it('say why a host is refused', () => {
    expect(smtp('mail.example.com', 'none')[0]?.reason).toContain('a host of this machine or of a private network')
  })

  it.each([
    'shop@example.com\r\nBcc: x@example.org',
    'Shop\r\nBcc: x@example.org <shop@example.com>',
    'Shop <shop@example.com>, x@example.org',
    '"Shop" <shop@example.com>',
    'shop@example.com>\r\nRCPT TO:<x@example.org',
    'Shop\u0000 <shop@example.com>',
  ])('refuse %j as from, reply_to and support_email', (address) => {
    expect(fields({ transport: 'console', from: address })).toHaveLength(1)
    expect(fields({ transport: 'console', reply_to: address })).toHaveLength(1)
    expect(readSettings({ support_email: address }).errors).toHaveLength(1)
  })

  it.each(['Shop\r\nBcc: x@example.org', 'Shop\u0000', '\n'])('refuse %j as site_name', (name) => {
    expect(readSettings({ site_name: name }).errors).toHaveLength(1)
  })
})
