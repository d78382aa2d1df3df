/** docs/devices.md against the code: its settings, its header, its reasons, and the lines that an app needs (contract 3.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isDeviceApps } from '../../src/wire/device-apps.ts'
import { assertedText, readAssertion } from '../../src/wire/device-assertion.ts'
import { devices } from '../../src/wire/operations.ts'
import { packageRoot } from '../support/command.ts'

const readText = (name: string) => fs.readFileSync(path.join(packageRoot, name), 'utf8')
const page = readText('docs/devices.md')
const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text: text!,
}))
const blocksIn = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text)
const section = (title: string) => page.split(/^##+ /m).find((one) => one.startsWith(`${title}\n`))!

describe('docs/devices.md', () => {
  it('has settings that the stack takes', () => {
    const [text] = blocksIn('json')
    const { device_apps } = JSON.parse(text!.replace(/…64 [^"]*…|…[^"]*digits…/, 'ab'.repeat(32)))
    expect(device_apps.map(({ platform }: { platform: string }) => platform)).toEqual(['ios', 'android'])
    expect(isDeviceApps(device_apps)).toBe(true)
  })

  it('names each route, and each reason that the log has', () => {
    const text = page.replaceAll('<id>', ':id')
    for (const { method, path: address } of [devices.challenge, devices.enrol, devices.list, devices.remove])
      expect(text).toContain(`\`${method} ${address}`)
    expect(text).toContain(`GET ${devices.listAll.path}`)
    const source = readText('runtime/devices/reasons.ts')
    const reasons = [...source.matchAll(/^ {2}\| '(\w+)'$/gm)].map(([, reason]) => `\`${reason}\``)
    expect(reasons.length).toBeGreaterThan(9)
    expect(reasons.filter((reason) => !section('The signed text').includes(reason))).toEqual([])
  })

  it('signs the text of the code, line by line, on both platforms', () => {
    const named = {
      time: 7,
      nonce: 'nonce',
      method: 'method',
      target: 'target',
      bodyDigest: 'body',
      tokenDigest: 'accessToken',
    }
    const expected = assertedText(named).split('\n')
    const lists = [...blocksIn('swift'), ...blocksIn('kotlin')].flatMap(
      (block) => /(?:\[|listOf\()("stack-device-1".*?)(?:\]|\))\.join/.exec(block)?.[1] ?? [],
    )
    const partOf = (part: string) => part.replace(/^"(?:\\\()?|\)?"$/g, '').replace(/sha256\((\w+)\).*/, '$1')
    const read = lists.map((list) => list.split(', ').map((part) => (partOf(part) === 'time' ? '7' : partOf(part))))
    expect(read).toEqual([expected, expected])
  })

  it.each([
    ['swift', 'apple', 'assertion.base64url'],
    ['kotlin', 'es256', 'signature.base64url()'],
  ])('has a header in %s that the runtime reads', (language, form, proof) => {
    const block = blocksIn(language).find((text) => text.includes('v=1, k='))!
    const [, header] = /"(v=1, k=[^"]+)"/.exec(block)!
    expect(header).toContain(proof)
    const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]).toString('base64url')
    const values = { publicKey: point, time: '1790000000', nonce: 'A'.repeat(22), proof: 'A'.repeat(96) }
    const filled = header!.replace(/\\\(([^)]*)\)|\$\{([^}]*)\}|\$(\w+)/g, (_whole, ...names: string[]) => {
      const name = names.slice(0, 3).find((one) => one !== undefined)!
      return name.includes('base64url') ? values.proof : values[name as keyof typeof values]
    })
    const decode = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))
    expect(readAssertion(filled, decode)).toMatchObject({ form, time: 1_790_000_000, nonce: values.nonce })
  })

  it.each([
    [
      'iOS',
      ['DCAppAttestService.shared', 'isSupported', 'generateKey()', 'attestKey(', 'generateAssertion(', 'serverTime'],
    ],
    [
      'Android',
      ['KeyGenParameterSpec', 'setAttestationChallenge(challenge)', 'secp256r1', 'getCertificateChain', 'PURPOSE_SIGN'],
    ],
  ])('has the lines that an app for %s needs', (title, lines) => {
    for (const line of lines) expect(section(title)).toContain(line)
  })

  it('says what attestation does not prove, and why there is none for the web', () => {
    const limits = section('What attestation does not prove')
    for (const text of [
      'no second factor',
      'jailbreak',
      'Malware',
      'Farms',
      'receipt',
      'There is none for the web',
      'WebAuthn',
    ]) {
      expect(limits).toContain(text)
    }
    expect(limits).toContain('attestation_unavailable')
  })
})
