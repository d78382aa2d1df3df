/** `Storage` of a served stack: a folder, or a bucket that speaks S3, behind the same binding (contract 2.5). */
import * as fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { quoted } from '../../deploy/serve/capnp.ts'
import { workerSources } from '../../deploy/serve/worker-sources.ts'
import { startWorkerd, type Workerd } from '../../deploy/serve/workerd.ts'
import { serveFolder } from '../../deploy/storage/folder.ts'
import { storageTarget } from '../../deploy/storage/target.ts'
import { type S3Server, startS3 } from '../support/s3-server.ts'

const accessKey = 'AKIAEXAMPLE'
const secretKey = 'secret/with+signs'

/** Runs the steps of a test inside workerd, where the binding is. */
const runner = `export default {
  async fetch(request, env) {
    const { method, args, read } = await request.json()
    try {
      let [first, value, ...rest] = args
      if (value?.stream !== undefined) {
        const bytes = new TextEncoder().encode(value.stream)
        const { readable, writable } = value.fixed ? new FixedLengthStream(bytes.length) : new TransformStream()
        const writer = writable.getWriter()
        writer.write(bytes).then(() => writer.close()).catch(() => {})
        value = readable
      }
      const result = await env.STORAGE[method](first, value, ...rest)
      return Response.json({ result: result && read ? { ...result, text: await result.text() } : result ?? null })
    } catch (error) {
      return Response.json({ error: error.message })
    }
  },
}`

async function startRunner(
  folder: string,
  service: string,
  environment: NodeJS.ProcessEnv,
  modules: string[] = [],
): Promise<Workerd> {
  const { bucket } = await workerSources()
  const config = path.join(folder, 'config.capnp')
  const control = path.join(folder, 'control')
  fs.writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (compatibilityDate = "2026-07-30", modules = [(name = "main", esModule = ${quoted(runner)})],
      bindings = [(name = "STORAGE", wrapped = (moduleName = "stack:bucket", innerBindings = [(name = "store", service = "storage")]))])),
    (name = "internet", network = (allow = ["private"])),
    ${service}
  ],
  sockets = [
    (name = "public", address = "127.0.0.1:0", http = (), service = "main"),
    (name = "control", address = ${quoted(`unix:${control}`)}, http = (), service = "main"),
  ],
  extensions = [(modules = [(name = "stack:bucket", internal = true, esModule = ${quoted(bucket)})${modules.join('')}])],
);
`,
  )
  return startWorkerd({ config, control, environment, onLine: () => {} })
}

const kinds = ['folder', 's3'] as const

describe.each(kinds)('Storage in a %s', (kind) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-storage-'))
  const objects = path.join(folder, 'objects')
  let workerd: Workerd
  let s3: S3Server | undefined
  let stopFolder: (() => Promise<void>) | undefined
  beforeAll(async () => {
    if (kind === 'folder') {
      const socket = path.join(folder, 'socket')
      stopFolder = (await serveFolder(objects, socket)).stop
      workerd = await startRunner(
        folder,
        `(name = "storage", external = (address = ${quoted(`unix:${socket}`)}, http = ()))`,
        {},
      )
      return
    }
    s3 = await startS3({ bucket: 'shop', accessKey, secretKey, region: 'eu-central-1' })
    const environment = {
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_S3: s3.url,
    }
    const target = storageTarget('s3://shop/live', folder, environment)
    if (target.kind !== 's3') throw new Error('no S3')
    const { s3: source } = await workerSources()
    const { bucketUrl, prefix, region } = target
    const bindings = ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN'].map(
      (name) => `(name = "${name}", fromEnvironment = "AWS_${name}")`,
    )
    const settings = `(name = "SETTINGS", json = ${quoted(JSON.stringify({ bucketUrl, prefix, region }))})`
    workerd = await startRunner(
      folder,
      `(name = "storage", worker = (compatibilityDate = "2026-07-30", modules = [(name = "s3", esModule = ${quoted(source)})], bindings = [${[settings, ...bindings].join(', ')}]))`,
      environment,
    )
  })
  afterAll(async () => {
    workerd?.kill()
    await s3?.stop()
    await stopFolder?.()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  async function run(method: string, args: unknown[], read = false): Promise<any> {
    const response = await fetch(`http://127.0.0.1:${workerd.port}/`, {
      method: 'POST',
      body: JSON.stringify({ method, args, read }),
    })
    return response.json()
  }

  it('keeps an object with its properties', async () => {
    const metadata = {
      httpMetadata: { contentType: 'text/plain', cacheControl: 'no-store' },
      customMetadata: { Owner: 'Zoë' },
    }
    const put = await run('put', ['notes/a b.txt', 'stored', metadata])
    expect(put.result).toMatchObject({ key: 'notes/a b.txt', size: 6, ...metadata })
    const got = await run('get', ['notes/a b.txt'], true)
    expect(got.result).toMatchObject({
      key: 'notes/a b.txt',
      size: 6,
      text: 'stored',
      etag: put.result.etag,
      ...metadata,
    })
    expect((await run('head', ['notes/a b.txt'])).result).toMatchObject({ size: 6, ...metadata })
  })

  const taken = ['a', 'ünï/日本', 'plus+and%25', "quotes'(1)*!", 'a/b', 'dir/', '.hidden', 'a=b']
  it.each([...taken.map((key) => [key, key]), ['of 1,000 bytes', 'x'.repeat(1000)]])(
    'takes the key %s',
    async (_, key) => {
      expect((await run('put', [key, key])).error).toBeUndefined()
      expect((await run('get', [key], true)).result).toMatchObject({ key, text: key })
      const { objects: listed } = (await run('list', [{ prefix: key }])).result
      expect(listed.map((one: { key: string }) => one.key)).toContain(key)
      await run('delete', [key])
      expect((await run('head', [key])).result).toBeNull()
    },
  )

  const refused = ['', '../escape', 'a/./b', 'nul\0']
  it.each([...refused.map((key) => [key, key]), ['of 1,025 bytes', 'x'.repeat(1025)]])(
    'refuses the key %j',
    async (_, key) => {
      expect((await run('put', [key, 'x'])).error).toMatch(/^a key /)
    },
  )

  it('replaces, empties and deletes', async () => {
    await run('put', ['one', 'first'])
    await run('put', ['one', ''])
    expect((await run('get', ['one'], true)).result).toMatchObject({ size: 0, text: '' })
    await run('put', ['two', 'x'])
    expect((await run('delete', [['one', 'two', 'never']])).error).toBeUndefined()
    expect((await run('get', ['one'])).result).toBeNull()
  })

  it('takes a stream of known length', async () => {
    await run('put', ['stream', { stream: 'streamed', fixed: true }])
    expect((await run('get', ['stream'], true)).result.text).toBe('streamed')
  })

  it('lists in pages', async () => {
    for (const name of ['c', 'a', 'b']) await run('put', [`page/${name}`, name])
    const first = (await run('list', [{ prefix: 'page/', limit: 2 }])).result
    expect(first).toMatchObject({ truncated: true, objects: [{ key: 'page/a', size: 1 }, { key: 'page/b' }] })
    const second = (await run('list', [{ prefix: 'page/', limit: 2, cursor: first.cursor }])).result
    expect(second).toMatchObject({ truncated: false, objects: [{ key: 'page/c' }] })
  })

  it('bounds the metadata', async () => {
    expect((await run('put', ['big', 'x', { customMetadata: { a: 'x'.repeat(2000) } }])).error).toContain('1400 bytes')
  })

  it('every request is signed, and a write that breaks off changes nothing', async () => {
    if (s3) {
      expect(s3.refused).toEqual([])
      return expect([...s3.objects.keys()].every((key) => key.startsWith('live/'))).toBe(true)
    }
    await run('put', ['kept', 'whole'])
    const options = { socketPath: path.join(folder, 'socket'), method: 'PUT', path: '/object?key=kept' }
    const request = http.request({ ...options, headers: { 'content-length': '100' } })
    request.on('error', () => {})
    request.write('half')
    const files = () => fs.readdirSync(objects, { recursive: true, encoding: 'utf8' })
    const isTemporary = (name: string) => path.basename(name).startsWith('.')
    await vi.waitUntil(() => files().some(isTemporary))
    request.destroy()
    await vi.waitUntil(() => !files().some(isTemporary))
    expect((await run('get', ['kept'], true)).result.text).toBe('whole')
  })
})

describe('the place of Storage', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
  it.each([
    ['s3://shop', {}, 'https://shop.s3.us-east-1.amazonaws.com'],
    ['s3://shop.example', { AWS_REGION: 'eu-west-1' }, 'https://s3.eu-west-1.amazonaws.com/shop.example'],
    ['s3://shop', { AWS_ENDPOINT_URL_S3: 'https://minio.example/' }, 'https://minio.example/shop'],
  ])('%s %j', (text, environment, bucketUrl) => {
    expect(storageTarget(text, '/', { ...keys, ...environment })).toMatchObject({ kind: 's3', bucketUrl })
  })

  it.each(['s3://', 's3://UPPER', 'https://shop'])('%s is none', (text) => {
    expect(() => storageTarget(text, '/', keys)).toThrow('neither a folder nor s3://')
  })
})
