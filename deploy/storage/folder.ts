/**
 * Keeps the objects of a served stack in a folder, and serves them to its workers over a socket. Each object is one file: its
 * content, its properties as JSON, and their length in 4 bytes. A write goes to another file first, so that a reader sees the old
 * object or the new one.
 */
import { createHash, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  keyFault,
  type ListJson,
  longestList,
  type Metadata,
  metadataHeader,
  type ObjectJson,
  objectHeader,
} from '../workers/storage-protocol.ts'

/** Size of the length that ends a file. */
const lengthBytes = 4

/** Longest part of a file's name in bytes, below the 255 of most file systems. */
const longestName = 200

export interface ObjectFolder {
  stop(): Promise<void>
}

/** @param socket path of the socket, in a folder that other users cannot enter. */
export async function serveFolder(directory: string, socket: string): Promise<ObjectFolder> {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const server = http.createServer((request, response) => {
    answer(directory, request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(error.message)
    })
  })
  server.requestTimeout = 0 // an upload may take as long as its client does
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve))
  return {
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(directory: string, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, 'http://storage')
  if (pathname === '/list') return void response.end(JSON.stringify(await listed(directory, searchParams)))
  if (pathname === '/delete') {
    for (const key of JSON.parse(await textOf(request)) as string[]) fs.rmSync(fileOf(directory, key), { force: true })
    return void response.writeHead(204).end()
  }
  const key = searchParams.get('key')!
  const fault = keyFault(key)
  if (fault !== undefined) return void response.writeHead(400).end(fault)
  const file = fileOf(directory, key)
  if (request.method === 'PUT') {
    const object = await write(file, key, request)
    return void response.writeHead(200, { [objectHeader]: encoded(object) }).end()
  }
  await read(file, request.method === 'HEAD', response)
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Stores the body of a request. A body that breaks off leaves the object as it was. */
async function write(file: string, key: string, request: http.IncomingMessage): Promise<ObjectJson> {
  const metadata = JSON.parse(decodeURIComponent(String(request.headers[metadataHeader] ?? '%7B%7D'))) as Metadata
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const temporary = path.join(path.dirname(file), `.${randomUUID()}`)
  try {
    const hash = createHash('md5')
    let size = 0
    await pipeline(
      request,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length
          hash.update(chunk)
          yield chunk
        }
      },
      fs.createWriteStream(temporary, { mode: 0o600, start: 0 }),
    )
    const object: ObjectJson = { key, size, etag: hash.digest('hex'), uploaded: new Date().toISOString(), ...metadata }
    const handle = await fs.promises.open(temporary, 'a')
    try {
      const line = Buffer.from(JSON.stringify(object))
      const length = Buffer.alloc(lengthBytes)
      length.writeUInt32BE(line.length)
      await handle.write(Buffer.concat([line, length]))
      await handle.sync()
    } finally {
      await handle.close()
    }
    fs.renameSync(temporary, file)
    return object
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

async function read(file: string, isHead: boolean, response: http.ServerResponse): Promise<void> {
  const handle = await opened(file)
  if (!handle) return void response.writeHead(404).end()
  try {
    const object = await propertiesOf(handle)
    response.writeHead(200, { [objectHeader]: encoded(object), 'content-length': object.size })
    if (isHead || object.size === 0) return void response.end()
    await pipeline(handle.createReadStream({ start: 0, end: object.size - 1, autoClose: false }), response)
  } finally {
    await handle.close()
  }
}

/** @returns `undefined` where there is no such object. */
function opened(file: string): Promise<fs.promises.FileHandle | undefined> {
  return fs.promises.open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
}

async function propertiesOf(handle: fs.promises.FileHandle): Promise<ObjectJson> {
  const { size } = await handle.stat()
  const length = Buffer.alloc(lengthBytes)
  await handle.read(length, 0, lengthBytes, size - lengthBytes)
  const line = Buffer.alloc(length.readUInt32BE())
  await handle.read(line, 0, line.length, size - lengthBytes - line.length)
  return JSON.parse(line.toString()) as ObjectJson
}

/** The keys with the prefix, in the order of their bytes. The cursor is the last key of the page before. */
async function listed(directory: string, query: URLSearchParams): Promise<ListJson> {
  const prefix = query.get('prefix') ?? ''
  const limit = Math.min(Number(query.get('limit') || longestList), longestList)
  const after = Buffer.from(query.get('cursor') ?? '', 'base64url')
  const keys = keysBelow(directory)
    .map((key) => Buffer.from(key))
    .filter((key) => key.toString().startsWith(prefix) && Buffer.compare(key, after) > 0)
    .sort(Buffer.compare)
  const page = keys.slice(0, limit)
  const objects: ObjectJson[] = []
  for (const key of page) {
    const handle = await opened(fileOf(directory, key.toString()))
    if (!handle) continue // the object was deleted meanwhile
    objects.push(await propertiesOf(handle).finally(() => handle.close()))
  }
  const truncated = keys.length > page.length
  return { objects, truncated, ...(truncated ? { cursor: page.at(-1)!.toString('base64url') } : {}) }
}

function keysBelow(directory: string): string[] {
  const found = fs.readdirSync(directory, { recursive: true, withFileTypes: true })
  return found.flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('=')) return []
    const relative = path.relative(directory, path.join(entry.parentPath, entry.name)).slice(0, -1)
    return decodeURIComponent(relative.split(path.sep).join('').replaceAll('=', ''))
  })
}

/**
 * The file of a key: the key percent-encoded, in folders of `longestName` characters. A slash of the key is part of a name, so that no
 * key is the folder of another one.
 */
function fileOf(directory: string, key: string): string {
  const name = encodeURIComponent(key).replace(
    /[.!'()*~]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const parts = name.match(new RegExp(`.{1,${longestName}}`, 'g')) ?? []
  return `${path.join(directory, ...parts)}=`
}

function encoded(object: ObjectJson): string {
  return encodeURIComponent(JSON.stringify(object))
}
