/** Bytes in base64url, and the bodies of the routes of devices (contract 3.7). */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/auth/devices/bytes.ts'
import {
  attestation,
  binary,
  certificates,
  challenge,
  challengeRequest,
  enrolment,
} from '../../src/auth/devices/schemas.ts'

const text = (length: number) => Buffer.alloc(length, 7).toString('base64url')
const takes = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).success

describe('base64url', () => {
  it.each([0, 1, 2, 3, 4, 5, 64, 65, 66, 8_192])('of %i bytes is read', (length) => {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    expect(bytesOf(Buffer.from(bytes).toString('base64url'))).toEqual(bytes)
  })

  it('has the two characters that base64 lacks', () => {
    expect(bytesOf('-_-_')).toEqual(new Uint8Array([0xfb, 0xff, 0xbf]))
  })

  it.each(['A', 'AAAAA', 'AA=', 'AA==', 'AAA=', 'AA A', ' AAA', 'AAA\n', 'A+AA', 'A/AA', 'AA.A', 'ÄAAA', 'AAAA\u0000'])(
    '%j is none',
    (value) => {
      expect(bytesOf(value)).toBeUndefined()
    },
  )

  it('has one spelling for each value: bits that no byte holds are zero', () => {
    const last = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
    expect(last.filter((one) => bytesOf(`A${one}`))).toEqual(['A', 'Q', 'g', 'w'])
    expect(last.filter((one) => bytesOf(`AA${one}`))).toHaveLength(16)
    expect(last.filter((one) => bytesOf(`AAA${one}`))).toHaveLength(64)
    expect(last.filter((one) => bytesOf(`AAAAA${one}`))).toHaveLength(4)
  })
})

describe('binary fields', () => {
  it('hold some bytes, and as many as they say', () => {
    for (const most of [1, 2, 3, 64, 65, 66]) {
      const field = binary(most)
      expect([most, takes(field, text(most)), takes(field, text(most + 1)), takes(field, '')]).toEqual([
        most,
        true,
        false,
        false,
      ])
    }
    expect(takes(binary(3), 7)).toBe(false)
  })

  it('a challenge has 128 bytes at most, and an attestation 16 KiB', () => {
    expect([takes(challenge, text(128)), takes(challenge, text(129))]).toEqual([true, false])
    expect([takes(attestation, text(16_384)), takes(attestation, text(16_385))]).toEqual([true, false])
  })

  it('a chain has 2 to 8 certificates of 8 KiB', () => {
    const chain = (count: number, length = 100) => Array(count).fill(text(length))
    expect([1, 2, 8, 9].map((count) => takes(certificates, chain(count)))).toEqual([false, true, true, false])
    expect([takes(certificates, chain(2, 8_192)), takes(certificates, chain(2, 8_193))]).toEqual([true, false])
  })
})

describe('bodies', () => {
  const about = { application_key: 'shop', challenge: text(56) }

  it('an enrolment has either an attestation or certificates', () => {
    const [ios, android] = [{ attestation: text(9) }, { certificates: [text(9), text(9)] }]
    expect([ios, android].map((proof) => takes(enrolment, { ...about, ...proof }))).toEqual([true, true])
    for (const body of [about, { ...about, ...ios, ...android }, ios, { ...about, ...ios, more: 1 }]) {
      expect([body, takes(enrolment, body)]).toEqual([body, false])
    }
  })

  it('a challenge is asked for by platform and application', () => {
    const of = (platform: unknown, application_key: unknown) => takes(challengeRequest, { platform, application_key })
    expect(['ios', 'android', 'web', 'IOS', '', null].map((platform) => of(platform, 'shop'))).toEqual([
      ...[true, true, true],
      ...[false, false, false],
    ])
    const keys = ['a', 'A.b_c-9', 'a'.repeat(63), '', 'a'.repeat(64), 'a b', 'ä', 'a\n', '-a']
    expect(keys.filter((key) => of('ios', key))).toEqual(['a', 'A.b_c-9', 'a'.repeat(63)])
  })
})
