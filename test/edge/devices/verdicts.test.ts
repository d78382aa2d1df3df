/**
 * 3.7 The verdicts on attestations in workerd: real ones, each known forgery, and 10,000 damaged ones. Node judges the same inputs, and
 * the routes answer none of them with a server error.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/wire/der.ts'
import { assertedText } from '../../../src/wire/device-assertion.ts'
import { androidInputOf, appleInputOf, attestationVectors, fromBase64 } from '../../support/attestation-vectors.ts'
import {
  type AttestationCase,
  type DamagedBatch,
  damagedCases,
  damagedCopy,
  packed,
  verdictOf,
  verdictOfAssertion,
  verdictsOnDamaged,
} from '../../support/attestation-verdicts.ts'
import type { Judged } from '../../support/attestation-worker.ts'
import {
  androidApp,
  androidChain,
  appleAssertion,
  appleAttestation,
  iosApp,
  newPair,
  pointOf,
  sha256,
} from '../../support/attestations.ts'
import { useBundledWorker } from '../../support/bundled-worker.ts'
import { assertionOf, enrolDevice } from '../../support/devices.ts'
import {
  appleRoot,
  attestedPair,
  challenge,
  googleRoot,
  hostileAndroid,
  hostileApple,
} from '../../support/hostile-attestations.ts'
import { administer } from '../../support/management.ts'
import { createRandom } from '../../support/random.ts'
import { useStack } from '../../support/stack.ts'
import { useStatusList } from '../../support/status-list.ts'

if (!attestationVectors) process.stderr.write('the attestations of devices are not here: their tests are skipped\n')

const now = Date.now()
const apple = (attestation: Bytes): AttestationCase => ({
  platform: 'ios',
  attestation,
  challenge,
  app: iosApp,
  environments: ['production', 'development'],
  roots: [appleRoot.root],
  now,
})
const android = (certificates: Bytes[]): AttestationCase => ({
  platform: 'android',
  certificates,
  challenge,
  app: androidApp,
  roots: [googleRoot.root],
  now,
})
const forged = [
  ...hostileApple.map(([title, lies, reason]) => ({
    title: `iOS: ${title}`,
    input: apple(appleAttestation(appleRoot, challenge, lies)),
    reason,
  })),
  ...hostileAndroid.map(([title, lies, reason]) => ({
    title: `Android: ${title}`,
    input: android(androidChain(googleRoot, challenge, lies, attestedPair)),
    reason,
  })),
]
const genuine = [apple(appleAttestation(appleRoot, challenge)), android(androidChain(googleRoot, challenge))] as const

/** Copies of one attestation, without those in which the receipt alone was changed: only Apple could tell that. */
function damagedBatch(whole: AttestationCase, seed: number, count: number): DamagedBatch {
  if (whole.platform === 'android') return { whole, seed, count }
  const from = Buffer.from(whole.attestation).indexOf('a receipt')
  return { whole, seed, count, unsigned: { from, to: from + 'a receipt'.length } }
}

/** A reason, and behind `malformed` what was wrong. */
const kindOf = (verdict: string) => verdict.replace(/^malformed:.*/s, 'malformed')

describe('in workerd', () => {
  const post = useBundledWorker(`export { default } from './test/support/attestation-worker.ts'`)
  const judge = (judged: Judged) => post<{ verdicts: string[]; digest?: number }>(packed(judged))

  it('each forgery is refused for its reason, as in Node, and a genuine attestation is not', async () => {
    const { verdicts } = await judge({ cases: [...genuine, ...forged.map(({ input }) => input)] })
    expect(verdicts.slice(0, 2)).toEqual(['ok', 'ok'])
    const told = verdicts.slice(2).map((verdict, index) => [forged[index]!.title, kindOf(verdict)])
    expect(told).toEqual(forged.map(({ title, reason }) => [title, reason]))
    expect(verdicts).toEqual(await Promise.all([...genuine, ...forged.map(({ input }) => input)].map(verdictOf)))
  })

  it.each([
    ['App Attest', genuine[0]],
    ['Key Attestation', genuine[1]],
  ])(
    '5,000 damaged copies of %s are refused, each as in Node',
    async (_title, whole) => {
      for (let seed = 1; seed <= 10; seed++) {
        const batch = damagedBatch(whole, seed, 500)
        const [there, here] = await Promise.all([judge({ damaged: batch }), verdictsOnDamaged(batch)])
        expect(there).toEqual(here)
        expect(there.verdicts).toHaveLength(500)
        expect(there.verdicts.filter((verdict) => verdict === 'ok' || verdict.startsWith('threw'))).toEqual([])
      }
    },
    120_000,
  )

  it.runIf(attestationVectors)('attestations of real devices have their verdicts, as in Node', async () => {
    const { app_attest, key_attestation } = attestationVectors!
    const ofApple = app_attest.map((one): AttestationCase => ({ platform: 'ios', ...appleInputOf(one) }))
    const ofGoogle = key_attestation.map((one): AttestationCase => ({ platform: 'android', ...androidInputOf(one) }))
    const cases = [...ofApple, ...ofGoogle]
    const expected = [...app_attest.map(() => 'ok'), ...key_attestation.map(({ result }) => result)]
    const { verdicts } = await judge({ cases })
    expect(verdicts).toEqual(expected)
    expect(await Promise.all(cases.map(verdictOf))).toEqual(expected)
    const late = await judge({ cases: ofApple.map((one) => ({ ...one, now: Date.now() })) })
    expect(late.verdicts).toEqual(ofApple.map(() => 'expired'))
  })

  it.runIf(attestationVectors)('assertions of real devices hold over their own text alone', async () => {
    const assertions = attestationVectors!.app_attest.flatMap(({ assertion, public_key }) => {
      if (!assertion) return []
      const one = { point: fromBase64(public_key), assertion: fromBase64(assertion.object) }
      return [
        { ...one, text: fromBase64(assertion.client_data) },
        { ...one, text: new Uint8Array([1]) },
      ]
    })
    expect(assertions.length).toBeGreaterThan(0)
    const { verdicts } = await judge({ assertions })
    expect(verdicts).toEqual(assertions.map((_, index) => (index % 2 === 0 ? 'ok' : 'bad_signature')))
    expect(await Promise.all(assertions.map(verdictOfAssertion))).toEqual(verdicts)
  })
})

describe('at the routes', () => {
  const stack = useStack('test/edge/attested', {}, { auth: useStatusList().start })
  const admin = administer(stack)
  const b64u = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const many = { rate_limits: { device_enrolment_per_user: { attempts: 1_000, seconds: 60 } } }

  beforeAll(async () => {
    await admin.call('PUT', '/settings', { ...many, device_apps: [iosApp, androidApp] })
  })

  /** Enrols attestations that were made for another challenge: the local stack verifies them under the roots that the body names. */
  async function enroller(token: string) {
    const challenges: Record<string, string> = {}
    for (const platform of ['ios', 'android']) {
      const { json } = await stack.call('/auth/devices/debug/challenge', {
        token,
        json: { platform, application_key: 'shop' },
      })
      challenges[platform] = json.challenge
    }
    return async (input: AttestationCase) => {
      const { platform } = input
      const root = platform === 'ios' ? appleRoot : googleRoot
      const proof =
        platform === 'ios' ? { attestation: b64u(input.attestation) } : { certificates: input.certificates.map(b64u) }
      const recorded = { challenge: b64u(challenge), at: now, roots: [b64u(root.certificate)], ...proof }
      const json = { platform, application_key: 'shop', challenge: challenges[platform], proof: { recorded } }
      return stack.call('/auth/devices/debug', { token, json })
    }
  }

  /** Sends a few requests at once, in the order of the list. */
  async function each<T, R>(list: readonly T[], send: (one: T) => Promise<R>): Promise<R[]> {
    const results: R[] = []
    for (let at = 0; at < list.length; at += 10)
      results.push(...(await Promise.all(list.slice(at, at + 10).map((one) => send(one)))))
    return results
  }

  it('each forgery is refused, and the audit trail has the reason', async () => {
    const { token, id } = await stack.signUp()
    const enrol = await enroller(token)
    const reasons: string[] = []
    for (const { title, input, reason } of forged) {
      const { status } = await enrol(input)
      // the schema and the longest body refuse chains of one certificate, of nine, or of certificates that are too long
      if (status === 400 || status === 413) expect(['chain_too_short', 'too_long', 'malformed']).toContain(reason)
      else {
        expect([title, status]).toEqual([title, 422])
        reasons.push(reason)
      }
    }
    const trail = await stack.sql<{ reason: string }>(
      `select reason from stack.audit where actor_id = $1 and event_type = 'device.refused' order by id`,
      [id],
    )
    expect(trail.map(({ reason }) => kindOf(reason))).toEqual(reasons)
    expect(reasons.length).toBeGreaterThan(75)
    expect(await stack.sql('select from auth.devices where user_id = $1', [id])).toEqual([])
  })

  it('240 damaged attestations are 400 or 422', async () => {
    const { token, id } = await stack.signUp()
    const enrol = await enroller(token)
    const inputs = genuine.flatMap((whole) => [...damagedCases(damagedBatch(whole, 77, 120))].map(({ input }) => input))
    const answers = await each(inputs, enrol)
    expect(answers.filter(({ status }) => status !== 422 && status !== 400)).toEqual([])
    expect(answers.filter(({ status }) => status === 422).length).toBeGreaterThan(200)
    expect(await stack.sql('select from auth.devices where user_id = $1', [id])).toEqual([])
    const sound = await Promise.all(genuine.map(enrol))
    expect(sound.map(({ status }) => status)).toEqual([201, 201])
  })

  it('100 damaged attestations at the routes of production are 400 or 422', async () => {
    const { token } = await stack.signUp()
    const next = createRandom(5)
    const challenges = await Promise.all(
      ['ios', 'android'].map(async (platform) => {
        const json = { platform, application_key: 'shop' }
        return (await stack.call('/auth/devices/challenge', { token, json })).json.challenge as string
      }),
    )
    const bodies = Array.from({ length: 100 }, (_, index) => {
      const isApple = index % 2 === 0
      const own = Buffer.from(challenges[isApple ? 0 : 1]!, 'base64url')
      const about = { application_key: 'shop', challenge: b64u(own) }
      if (isApple) return { ...about, attestation: b64u(damagedCopy(appleAttestation(appleRoot, own), next)) }
      const chain = androidChain(googleRoot, own)
      return { ...about, certificates: chain.map((one, at) => b64u(at === index % 4 ? damagedCopy(one, next) : one)) }
    })
    const answers = await each(bodies, (json) => stack.call('/auth/devices', { token, json }))
    expect(answers.filter(({ status }) => status !== 422 && status !== 400)).toEqual([])
  })

  it('400 damaged headers are no device, and no error', async () => {
    const person = await stack.signUp()
    const { token } = person
    const device = await enrolDevice(stack, person)
    const pair = newPair()
    const enrol = await enroller(token)
    const own = await enrol(apple(appleAttestation(appleRoot, challenge, {}, pair)))
    expect(own.status).toBe(201)
    const next = createRandom(9)
    /** A genuine header of each form, in its parts. */
    const ofDebug = () => assertionOf(device, '/mine', { token })
    const ofApple = () => {
      const [time, nonce] = [Math.floor(Date.now() / 1000), b64u(crypto.getRandomValues(new Uint8Array(16)))]
      const [bodyDigest, tokenDigest] = [b64u(sha256('')), b64u(sha256(token))]
      const text = assertedText({ time, nonce, method: 'GET', target: '/mine', bodyDigest, tokenDigest })
      return `v=1, k=${b64u(pointOf(pair))}, t=${time}, n=${nonce}, apple=${b64u(appleAssertion(pair, text))}`
    }
    const send = (header: string) => stack.call('/mine', { token, headers: { 'device-assertion': header } })
    for (const header of [ofDebug, ofApple]) expect((await send(header())).json.device).not.toBeNull()

    /** Damages the characters of the header, or the bytes behind one of its parts. */
    const damage = (header: string, way: number): string => {
      const part = way === 0 ? undefined : /(k|es256|apple)=([A-Za-z0-9_-]{60,})/g
      if (!part) {
        const bytes = damagedCopy(new Uint8Array(Buffer.from(header)), next)
        return Buffer.from(bytes.map((byte) => (byte >= 32 && byte < 127 ? byte : 33))).toString()
      }
      const isKey = way === 1
      return header.replace(part, (whole, name: string, value: string) =>
        (name === 'k') === isKey
          ? `${name}=${b64u(damagedCopy(new Uint8Array(Buffer.from(value, 'base64url')), next))}`
          : whole,
      )
    }
    const tries = Array.from({ length: 400 }, (_, index) => index)
    const answers = await each(tries, async (index) => {
      const header = (index % 2 === 0 ? ofDebug : ofApple)()
      let damaged = header
      while (damaged.trim() === header) damaged = damage(header, Math.floor(index / 2) % 3)
      return { damaged, ...(await send(damaged)) }
    })
    expect(answers.filter(({ status, json }) => status !== 200 || json.device !== null)).toEqual([])
  })
})
