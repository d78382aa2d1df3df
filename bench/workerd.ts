/** workerd as a process of its own, without miniflare, so that a measurement is about workerd alone. */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

export interface WorkerModule {
  /** The specifier by which other modules import it. `.wasm` is a compiled module, every other name an ES module. */
  name: string
  contents: Uint8Array | string
}

/** The smallest worker, which answers every request alike. */
export const bareWorker = "export default { fetch() { return new Response('ok') } }\n"

const compatibilityDate = '2026-07-30'
/** Longest wait for an answer with status 200, in milliseconds. Every bundle here starts much faster, so only a worker that hangs reaches it. */
const limitMs = 30_000

/** Number of characters of workerd's stderr that are kept for an error: the first ones name the cause. */
const complaintsLength = 4_000

/** The binary that miniflare starts. workerd is a dependency of miniflare, not of this package. */
const binary: string = createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd').default

export interface Workerd {
  port: number
  pid: number
  /**
   * Sends GET until the answer is 200. @returns milliseconds from the spawn to the last byte of that answer.
   * @throws Error when the process ends before, or does not answer 200 within 30 seconds.
   */
  answered(path: string): Promise<number>
  stop(): Promise<void>
}

/** @returns milliseconds from the spawn to the last byte of the first answer with status 200. */
export async function spawnToFirstAnswer(
  modules: readonly WorkerModule[],
  bindings: Record<string, string>,
  path: string,
): Promise<number> {
  const workerd = await spawnWorkerd(modules, bindings)
  try {
    return await workerd.answered(path)
  } finally {
    await workerd.stop()
  }
}

/** Spawns workerd, and resolves when the path answers 200. */
export async function startWorkerd(path: string, ...how: Parameters<typeof spawnWorkerd>): Promise<Workerd> {
  const workerd = await spawnWorkerd(...how)
  await workerd.answered(path).catch(async (error) => {
    await workerd.stop()
    throw error
  })
  return workerd
}

/**
 * Starts workerd and discards its log.
 * @param modules the first one is the entry.
 * @param bindings text bindings.
 * @param v8Flags flags like `--max-old-space-size=64`. Without it the heap grows with the memory of the machine.
 * @param durableObjects the classes of the entry, by the binding of each. Their storage is in memory.
 */
export async function spawnWorkerd(
  modules: readonly WorkerModule[],
  bindings: Record<string, string>,
  v8Flags: readonly string[] = [],
  durableObjects: Record<string, string> = {},
): Promise<Workerd> {
  const port = await freePort()
  const folder = fs.mkdtempSync(`${os.tmpdir()}/stack-spawn-`)
  const config = writeConfig(folder, modules, bindings, port, v8Flags, durableObjects)
  const began = performance.now()
  // V8 writes its logs (`--prof`, `--log-*`) into the working directory, which `stop` removes.
  const child = spawn(binary, ['serve', config], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  let failure: string | undefined
  child.stderr.on('data', (chunk) => {
    if (complaints.length < complaintsLength) complaints += chunk // bounded, because a worker may log every request
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = `workerd does not start: ${error.message}`
      if (child.pid === undefined) resolve() // a process that was not spawned has no end to wait for
    })
    child.once('close', (code, signal) => {
      failure ??= `workerd ended with ${code ?? signal}`
      resolve()
    })
  })
  return {
    port,
    pid: child.pid ?? 0,
    async answered(path) {
      const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`
      let last = 'no answer'
      while (performance.now() - began < limitMs) {
        const status = await ask(port, request)
        const elapsed = performance.now() - began
        if (status === 200) return elapsed
        if (status !== undefined) last = `status ${status}`
        if (failure !== undefined) break
      }
      throw new Error(`${failure ?? `${last} within ${limitMs} ms`}\n${complaints}`.trim())
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @returns the status of a complete answer. Returns `undefined` while the port is closed, or for an answer that breaks off. */
function ask(port: number, request: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let received = ''
    const socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
    const settle = (status: number | undefined) => {
      resolve(status)
      socket.destroy()
    }
    socket.setTimeout(limitMs, () => settle(undefined))
    socket.once('connect', () => socket.write(request))
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1') // one character for each byte, so that lengths are counted in bytes
      if (isComplete(received)) settle(statusOf(received))
    })
    // Without a length, the end of the connection is the end of the answer.
    socket.once('end', () => settle(hasLength(received) ? undefined : statusOf(received)))
    socket.once('error', () => settle(undefined))
  })
}

function isComplete(received: string): boolean {
  const head = headOf(received)
  if (head === undefined) return false
  const length = /^content-length: *(\d+)/im.exec(head)
  if (length) return received.length >= head.length + 4 + Number(length[1])
  return /^transfer-encoding: *chunked/im.test(head) && received.endsWith('\r\n0\r\n\r\n')
}

function hasLength(received: string): boolean {
  return /^(?:content-length|transfer-encoding):/im.test(headOf(received) ?? '')
}

function headOf(received: string): string | undefined {
  const end = received.indexOf('\r\n\r\n')
  return end === -1 ? undefined : received.slice(0, end)
}

function statusOf(received: string): number | undefined {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(received)
  return status ? Number(status[1]) : undefined
}

async function freePort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** @returns the path of the configuration. The modules beside it have numbers for names, because a specifier may hold a slash. */
function writeConfig(
  folder: string,
  modules: readonly WorkerModule[],
  bindings: Record<string, string>,
  port: number,
  v8Flags: readonly string[],
  durableObjects: Record<string, string>,
): string {
  const embedded = modules.map(({ name, contents }, index) => {
    const file = `module-${index}`
    fs.writeFileSync(path.join(folder, file), contents)
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule'
    return `(name = ${quoted(name)}, ${kind} = embed ${quoted(file)})`
  })
  const texts = Object.entries(bindings).map(([name, text]) => `(name = ${quoted(name)}, text = ${quoted(text)})`)
  const objects = Object.entries(durableObjects)
  const namespaces = objects.map(([, name]) => `(className = ${quoted(name)}, uniqueKey = ${quoted(name)})`)
  const references = objects.map(([name, to]) => `(name = ${quoted(name)}, durableObjectNamespace = ${quoted(to)})`)
  const config = path.join(folder, 'config.capnp')
  fs.writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = [${v8Flags.map(quoted).join(', ')}],
  services = [
    (name = "main", worker = .worker),
    # the same as in miniflare: a worker may reach servers on this machine
    (name = "internet", network = (allow = ["public", "private"], deny = [])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  compatibilityDate = ${quoted(compatibilityDate)},
  compatibilityFlags = ["nodejs_compat"],
  modules = [
    ${embedded.join(',\n    ')},
  ],
  bindings = [
    ${[...texts, ...references].join(',\n    ')}
  ],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = (inMemory = void),
);
`,
  )
  return config
}

/** A text of Cap'n Proto, which has the escapes of C and not those of JSON. */
function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/[\u0000-\u001f\u007f]/g, hexadecimal)
  return `"${escaped}"`
}

function hexadecimal(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
