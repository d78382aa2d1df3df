/** Measures what a signed request costs beside the same request without the header, and an enrolment beside one verification. */
import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type DebugDevice, enrolDebugDevice } from '../../cli/shared/debug-device.ts'
import { locateProject } from '../../cli/shared/project.ts'
import { findPort } from '../../local/ports.ts'
import { type LocalStack, startStack } from '../../local/start.ts'
import { verifyAndroid } from '../../src/auth/devices/android.ts'
import { verifyApple } from '../../src/auth/devices/apple.ts'
import { androidApp, androidChain, appleAttestation, iosApp, newRoot } from '../../test/support/attestations.ts'
import { copyProject } from '../../test/support/project.ts'
import { printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'

/** Number of rounds: an odd one has a value in its middle. */
const rounds = 15
/** Requests of a round: enough that a round takes a fraction of a second. */
const requests = 300
/** Requests at a time. */
const atOnce = 8
/** Verifications of a round. */
const verifications = 50

export async function benchDevices(): Promise<void> {
  await benchEnrolment()
  await benchRequestsOfDevices()
}

async function benchEnrolment(): Promise<void> {
  console.log('\nan enrolment, in this process; medians of interleaved rounds')
  const [apple, google, challenge, now] = [newRoot(), newRoot('A root of Android'), new Uint8Array(56), Date.now()]
  const attestation = appleAttestation(apple, challenge)
  const certificates = androidChain(google, challenge)
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const text = createHash('sha256').update('a text').digest()
  const signature = sign('sha256', text, pair.privateKey)
  const spki = new Uint8Array(pair.publicKey.export({ type: 'spki', format: 'der' }))
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('spki', spki, algorithm, false, ['verify'])
  const raw = sign('sha256', text, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' })
  if (!verify('sha256', text, pair.publicKey, signature)) throw new Error('the signature does not hold')
  const timed = (one: () => Promise<unknown>) => async () => {
    const began = performance.now()
    for (let index = 0; index < verifications; index++) await one()
    return (performance.now() - began) / verifications
  }
  const variants = {
    verification: timed(() => crypto.subtle.verify(algorithm, key, new Uint8Array(raw), text)),
    ios: timed(() =>
      verifyApple({ attestation, challenge, app: iosApp, environments: ['production'], roots: [apple.root], now }),
    ),
    android: timed(() => verifyAndroid({ certificates, challenge, app: androidApp, roots: [google.root], now })),
  }
  await interleave(2, variants)
  const values = await interleave(rounds, variants)
  const verification = values['verification']!
  printRow('one verification of P-256', `${median(verification).toFixed(3)} ms`)
  for (const name of ['ios', 'android']) {
    printRow(
      `an attestation of ${name}`,
      `${median(values[name]!).toFixed(3)} ms`,
      median(ratios(values[name]!, verification)),
      '≤ 40',
    )
  }
}

async function benchRequestsOfDevices(): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-devices-'))
  let stack: LocalStack | undefined
  try {
    copyProject(path.resolve(import.meta.dirname, '../../test/edge/attested'), root)
    const given = { ...locateProject(root), variables: {}, fresh: false, say: () => {}, onLog: () => {} }
    stack = await startStack({ ...given, port: await findPort() }, new AbortController().signal)
    const url = stack.record.base_url
    const accessToken = await signUp(url)
    const device = await enrolDebugDevice({ baseUrl: url, accessToken })
    console.log(
      `\na signed-in route that reads the grants; ${atOnce} requests at a time, medians of interleaved rounds`,
    )
    const variants = {
      plain: () => round(url, accessToken, undefined),
      signed: () => round(url, accessToken, device),
    }
    await interleave(4, variants)
    const values = await interleave(rounds, variants)
    const [plain, signed] = [values['plain']!, values['signed']!]
    printRow('without the header', `${median(plain).toFixed(2)} ms`)
    printRow('with the header', `${median(signed).toFixed(2)} ms`, median(ratios(signed, plain)), '≤ 1.35')
  } finally {
    await stack?.stop()
    fs.rmSync(root, { recursive: true, force: true })
  }
}

/** @returns milliseconds for each request of a round. */
async function round(url: string, accessToken: string, device: DebugDevice | undefined): Promise<number> {
  const headers = Array.from(
    { length: requests },
    (): Record<string, string> => ({
      authorization: `Bearer ${accessToken}`,
      ...(device && { 'device-assertion': device.assertionFor({ method: 'GET', target: '/mine', accessToken }) }),
    }),
  )
  const began = performance.now()
  const send = async () => {
    for (let header = headers.pop(); header; header = headers.pop()) {
      const response = await fetch(`${url}/mine`, { headers: header })
      const { device: found } = (await response.json()) as { device: object | null }
      if ((found !== null) !== (device !== undefined))
        throw new Error('the device of a request is not the expected one')
    }
  }
  await Promise.all(Array.from({ length: atOnce }, send))
  return (performance.now() - began) / requests
}

async function signUp(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}
