/** Parts of a push: when wrangler counts as done, where the workers run, and which keys are installed. */
import * as fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { factsText, readFacts } from '../../deploy/cloudflare/facts.ts'
import { decideKeys, type KeySituation } from '../../deploy/cloudflare/key-decisions.ts'
import { type KeyName, markOf, mintKey } from '../../deploy/cloudflare/keys.ts'
import { placementOf } from '../../deploy/cloudflare/placement.ts'
import { sizeFault } from '../../deploy/cloudflare/plan.ts'
import { wantedSecrets } from '../../deploy/cloudflare/unset.ts'
import { deployWorker } from '../../deploy/cloudflare/wrangler.ts'
import { temporaryFolder } from '../support/project.ts'

/** The character that begins a sequence of a terminal. */
const escapeCharacter = String.fromCharCode(27)

describe('a deployment by wrangler', () => {
  const deployed = { type: 'deploy', version_id: 'version-1' }
  const failed = { type: 'command-failed', message: 'the API refused' }

  /** Runs a script in the place of wrangler. */
  const withScript = (script: string, timeoutMs = 20_000) => {
    const directory = temporaryFolder()
    const file = path.join(directory, 'wrangler.cjs')
    fs.writeFileSync(file, script)
    return deployWorker('config.json', {
      directory,
      script: file,
      timeoutMs,
      secrets: { NAME: 'value "with" quotes\n' },
    })
  }
  const recording = (records: object[], code: number) =>
    `const lines = ${JSON.stringify(records.map((record) => JSON.stringify(record)))}
     require('node:fs').writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, lines.join('\\n'))
     console.error('\\x1b[31mred words\\x1b[0m'); process.exitCode = ${code}`

  it('is done where exit code and record agree', async () => {
    expect(await withScript(recording([deployed], 0))).toEqual({ version: 'version-1' })
  })

  it.each([
    ['a failure and exit 0', [failed], 0, 'ended with exit 0 and recorded a failure: the API refused'],
    ['both records and exit 0', [deployed, failed], 0, 'ended with exit 0 and recorded a failure'],
    ['no record and exit 0', [], 0, 'ended with exit 0 and recorded no deployment'],
    ['no version and exit 0', [{ type: 'deploy', version_id: null }], 0, 'recorded no deployment'],
    ['a deployment and exit 1', [deployed], 1, 'recorded a deployment and ended with exit 1'],
    ['a failure and exit 1', [failed], 1, 'ended with exit 1'],
  ] as [string, object[], number, string][])('is not done with %s', async (_title, records, code, words) => {
    const error = (await withScript(recording(records, code)).catch((one: Error) => one)) as Error
    expect(error.message).toContain(words)
    expect(error.message).toContain('red words')
    expect(error.message).not.toContain(escapeCharacter)
  })

  it('ends with a wrangler that never ends', async () => {
    await expect(withScript('setInterval(() => {}, 1000)', 1_000)).rejects.toThrow('a signal')
  })

  it('reads the secrets from a file without a name, and nothing else of this process', async () => {
    process.env['DATABASE_URL'] = 'postgresql://owner:secret@host/db'
    onTestFinished(() => void delete process.env['DATABASE_URL'])
    const script = `const fs = require('node:fs'), name = process.argv.at(-1)
      const seen = { name, secrets: JSON.parse(fs.readFileSync(name)), database: process.env.DATABASE_URL,
        metrics: process.env.WRANGLER_SEND_METRICS, banner: process.env.WRANGLER_HIDE_BANNER, color: process.env.NO_COLOR }
      fs.writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'deploy', version_id: JSON.stringify(seen) }))`
    const { version } = await withScript(script)
    expect(JSON.parse(version)).toEqual({
      ...(process.platform === 'win32' ? {} : { name: '/dev/stdin' }),
      secrets: { NAME: 'value "with" quotes\n' },
      ...{ metrics: 'false', banner: 'true', color: '1' },
    })
  })

  it('ends when the push that started it is killed', async () => {
    const server = http.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const port = (server.address() as AddressInfo).port
    const connected = new Promise<import('node:net').Socket>((resolve) => server.once('connection', resolve))
    const directory = temporaryFolder()
    const script = path.join(directory, 'wrangler.cjs')
    fs.writeFileSync(script, `require('node:net').connect(${port}, '127.0.0.1'); setInterval(() => {}, 1000)`)
    const parent = path.join(directory, 'parent.mjs')
    const module = path.resolve(import.meta.dirname, '../../deploy/cloudflare/wrangler.ts')
    fs.writeFileSync(
      parent,
      `import { deployWorker } from ${JSON.stringify(module)}
      await deployWorker('x', { directory: ${JSON.stringify(directory)}, script: ${JSON.stringify(script)} })`,
    )
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, [parent], { stdio: 'ignore' })
    const socket = await connected
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume()
    child.kill('SIGKILL')
    await closed
  })
})

describe('placement', () => {
  it.each([
    ['postgresql://u:p@ep-cool-sun-1.eu-central-1.aws.neon.tech/db', { region: 'aws:eu-central-1' }],
    [
      'postgresql://u:p@ep-cool-sun-1-pooler.germanywestcentral.azure.neon.tech/db',
      { region: 'azure:germanywestcentral' },
    ],
    ['postgresql://u:p@shop.c1a2.us-east-1.rds.amazonaws.com:5433/db', { region: 'aws:us-east-1' }],
    ['postgresql://u:p@aws-0-eu-west-2.pooler.supabase.com/db', { region: 'aws:eu-west-2' }],
    ['postgresql://u:p@db.example.com/db', { host: 'db.example.com:5432' }],
    ['postgresql://u:p@neon.tech.example.com:6000/db', { host: 'neon.tech.example.com:6000' }],
    ['postgresql://u:p@127.0.0.1/db', undefined],
  ])('%s', (url, placement) => {
    expect(placementOf(new URL(url))).toEqual(placement)
  })
})

describe('the plan', () => {
  it('admits 3 MiB on Workers Free and 10 MiB on Workers Paid, compressed', () => {
    const sizes = [
      { name: 'worker.js', bytes: 1, gzip: 3 * 1024 * 1024 },
      { name: 'driver.js', bytes: 1, gzip: 1 },
    ]
    expect(sizeFault('auth', sizes.slice(0, 1), 'free')).toBeUndefined()
    expect(sizeFault('auth', sizes, 'free')).toContain('admits 3072 KiB. The largest files are worker.js 3072.0 KiB')
    expect(sizeFault('auth', sizes, 'paid')).toBeUndefined()
  })
})

describe('keys', () => {
  const all = ['logins', 'claims', 'service_role', 'sealing', 'pepper', 'refresh'] as const
  const minted = Object.fromEntries(all.map((name) => [name, mintKey(name)])) as Record<KeyName, string>
  const secrets = [
    'CLAIMS_KEY',
    'DATABASE_URL',
    'DATABASE_SERVICE_URL',
    'SERVICE_ROLE_KEY',
    'SEALING_KEY',
    'PASSWORD_PEPPER',
    'REFRESH_KEY',
  ]
  const address = 'host:5432/db'

  /** A worker that has all secrets, with the marks of these keys. */
  const workerWith = (keys: Partial<Record<KeyName, string>>, without: string[] = [], database = address) => ({
    secrets: new Set(secrets.filter((name) => !without.includes(name))),
    variables: factsText({
      keys: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, markOf(key)])),
      ...{ database, verifiers: 'v1', publishable_key: 'pub_1', webhooks: [] },
    }),
  })
  const settled: KeySituation = {
    file: { stack: 'shop/staging', url: '', keys: minted, pending: [] },
    workers: { auth: workerWith(minted), backend: workerWith(minted) },
    database: { isUsed: true, hasClaimsKey: true, verifiers: 'v1' },
    ...{ address, renew: [] },
  }
  const installed = (change: Partial<KeySituation>) => {
    const { install, minted: fresh, stale } = decideKeys({ ...settled, ...change })
    return [[...install], fresh, stale]
  }

  it('all parties agree: nothing is installed, with the file and without', () => {
    expect(installed({})).toEqual([[], [], []])
    expect(installed({ file: undefined })).toEqual([[], [], []])
  })

  it('a new stack gets all of them', () => {
    const none = { isUsed: false, hasClaimsKey: false, verifiers: '' }
    const change = { file: undefined, workers: { auth: undefined, backend: undefined }, database: none }
    expect(installed(change)).toEqual([[...all], [...all], []])
  })

  const other = {
    ...minted,
    claims: mintKey('claims'),
    logins: mintKey('logins'),
    service_role: mintKey('service_role'),
  }
  it.each([
    [
      'the push ended between the two uploads',
      { workers: { auth: workerWith(other), backend: workerWith(minted) } },
      ['logins', 'claims', 'service_role'],
    ],
    [
      'the push ended before the uploads',
      { database: { isUsed: true, hasClaimsKey: true, verifiers: 'v2' } },
      ['logins'],
    ],
    [
      'a worker lacks a login',
      { workers: { auth: workerWith(minted), backend: workerWith(minted, ['DATABASE_SERVICE_URL']) } },
      ['logins'],
    ],
    ['the database has moved', { address: 'other:5432/db' }, ['logins']],
    ['the database is new', { database: { isUsed: false, hasClaimsKey: false, verifiers: '' } }, ['logins', 'claims']],
    ['a key was not uploaded yet', { file: { ...settled.file!, pending: ['service_role'] } }, ['service_role']],
    [
      'the auth worker lacks the pepper',
      { workers: { auth: workerWith(minted, ['PASSWORD_PEPPER']), backend: workerWith(minted) } },
      ['pepper'],
    ],
  ] as [string, Partial<KeySituation>, string[]][])(
    'a key is given to all parties where one may differ: %s',
    (_why, change, names) => {
      expect(installed(change)).toEqual([names, [], []])
    },
  )

  it('a key that another machine has replaced is left alone', () => {
    expect(installed({ workers: { auth: workerWith(other), backend: workerWith(other) } })).toEqual([
      [],
      [],
      ['logins', 'claims', 'service_role'],
    ])
  })

  it('a key that is replaced on request is minted, and not once more by the push that finishes it', () => {
    expect(installed({ renew: ['service_role'] })).toEqual([['service_role'], ['service_role'], []])
    const file = { ...settled.file!, pending: ['service_role' as const] }
    expect(installed({ renew: ['service_role'], file })).toEqual([['service_role'], [], []])
  })

  it('9.15 a lost key that stored data depends on is an error, unless the stack is new or the person says so', () => {
    const auth = workerWith(minted, ['SEALING_KEY'])
    const workers = { auth, backend: workerWith(minted) }
    expect(() => installed({ file: undefined, workers })).toThrow(
      'its SEALING_KEY is neither at Cloudflare nor in the file',
    )
    expect(installed({ workers })).toEqual([['sealing'], [], []])
    expect(installed({ file: undefined, workers, renew: ['sealing'] })).toEqual([['sealing'], ['sealing'], []])
    expect(() => installed({ renew: ['pepper'] })).toThrow('a push never replaces it')
  })

  it('a mark tells keys apart and does not lead back to one', () => {
    expect(markOf(minted.claims)).toMatch(/^[0-9a-f]{16}$/)
    expect(minted.claims).not.toContain(markOf(minted.claims))
    expect(new Set(all.map((name) => markOf(minted[name]))).size).toBe(all.length)
  })
})

describe('facts of a deployment', () => {
  it('fit into a variable, however many webhooks there are', () => {
    const webhooks = Array.from({ length: 500 }, (_, index) => `webhook-with-a-long-name-${index}`)
    const text = factsText({ keys: {}, database: '', verifiers: '', publishable_key: '', webhooks })
    expect(Buffer.byteLength(Object.values(text)[0]!)).toBeLessThanOrEqual(5_000)
    expect(readFacts(text).webhooks.length).toBeGreaterThan(100)
    expect(readFacts({ STACK_DEPLOYED: 'no JSON' }).webhooks).toEqual([])
  })
})

describe('secrets that the code reads', () => {
  it('are those of the webhooks, and those whose names are written out', () => {
    const folder = temporaryFolder()
    fs.writeFileSync(path.join(folder, 'a.ts'), "Secrets.get('API_KEY') + Secrets.get(name) + Secrets.get(`OTHER`)")
    fs.writeFileSync(path.join(folder, 'a.test.ts'), "Secrets.get('OF_A_TEST')")
    const webhooks = [{ name: 'pay', secret: { env: 'PAY', previous: 'PAY_OLD' } }]
    expect(wantedSecrets({ webhooks } as never, folder)).toEqual([
      { name: 'PAY', breaks: 'the webhook pay refuses every delivery' },
      { name: 'PAY_OLD', breaks: 'the webhook pay refuses deliveries under its previous secret' },
      { name: 'API_KEY', breaks: 'Secrets.get throws in a.ts' },
      { name: 'OTHER', breaks: 'Secrets.get throws in a.ts' },
    ])
  })
})
