/** Keys of HMAC-SHA-256, which are imported once for each secret. */
import { expect, it } from 'vitest'
import { hmacKey } from '../../runtime/hmac.ts'

it('makes the codes of RFC 4231, section 4.3, and other ones with another secret', async () => {
  const codeWith = async (secret: string) => {
    const data = new TextEncoder().encode('what do ya want for nothing?')
    return Buffer.from(await crypto.subtle.sign('HMAC', await hmacKey(secret), data)).toString('hex')
  }
  const code = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  expect([await codeWith('Jefe'), await codeWith('Jefe')]).toEqual([code, code])
  expect(await codeWith('jefe')).not.toBe(code)
  expect(await hmacKey('Jefe')).toBe(await hmacKey('Jefe'))
})
