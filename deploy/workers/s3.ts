/** Keeps the objects of a served stack in a bucket that speaks S3. It is a worker of its own, so that its keys stay out of reach of the project. */
import { AwsClient } from 'aws4fetch'
import {
  type ListJson,
  longestList,
  type Metadata,
  metadataHeader,
  type ObjectJson,
  objectHeader,
} from './storage-protocol.ts'

interface Env {
  /** Address of the bucket, and the region that signatures name. */
  SETTINGS: { bucketUrl: string; prefix: string; region: string }
  ACCESS_KEY_ID: string
  SECRET_ACCESS_KEY: string
  SESSION_TOKEN: string | null
}

/** Number of objects that are deleted at the same time. A worker has six connections. */
const deletedAtOnce = 6

/** Headers that S3 stores beside the content, under their names in R2. */
const customHeader = 'x-amz-meta-stack'

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url)
    const key = url.searchParams.get('key') ?? ''
    const bucket = bucketOf(env)
    if (url.pathname === '/list') return Response.json(await list(bucket, url.searchParams))
    if (url.pathname === '/delete') {
      const keys: string[] = await request.json()
      for (let at = 0; at < keys.length; at += deletedAtOnce) {
        await Promise.all(keys.slice(at, at + deletedAtOnce).map((one) => remove(bucket, one)))
      }
      return new Response(null, { status: 204 })
    }
    if (request.method === 'PUT') return put(bucket, key, request)
    return read(bucket, key, request.method)
  },
}

interface Bucket {
  send(path: string, init: RequestInit): Promise<Response>
  prefix: string
}

function bucketOf({ SETTINGS, ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN }: Env): Bucket {
  const client = new AwsClient({
    accessKeyId: ACCESS_KEY_ID,
    secretAccessKey: SECRET_ACCESS_KEY,
    ...(SESSION_TOKEN === null ? {} : { sessionToken: SESSION_TOKEN }),
    service: 's3',
    region: SETTINGS.region,
    retries: 0, // a stream can be sent once
  })
  return {
    prefix: SETTINGS.prefix,
    async send(path, init) {
      const signed = await client.sign(`${SETTINGS.bucketUrl}${path}`, init)
      return fetch(signed, { redirect: 'manual' })
    },
  }
}

const objectPath = ({ prefix }: Bucket, key: string) => `/${`${prefix}${key}`.split('/').map(encodeStrictly).join('/')}`

/** Percent-encodes as signatures demand it (RFC 3986): also the five characters that `encodeURIComponent` leaves. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** @throws Error with the code that S3 names, and without its message, which may hold the access key. */
async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response
  const text = await response.text()
  throw new Error(`S3 answered ${response.status} ${/<Code>([A-Za-z]+)<\/Code>/.exec(text)?.[1] ?? ''}`.trim())
}

async function read(bucket: Bucket, key: string, method: string): Promise<Response> {
  const response = await bucket.send(objectPath(bucket, key), { method })
  if (response.status === 404) return new Response(null, { status: 404 })
  await requireOk(response)
  const stored = response.headers
  const contentType = stored.get('content-type')
  const { httpMetadata, customMetadata } = JSON.parse(decodeURIComponent(stored.get(customHeader) ?? '{}')) as Metadata
  const object: ObjectJson = {
    key,
    size: Number(stored.get('content-length')),
    etag: (stored.get('etag') ?? '').replaceAll('"', ''),
    uploaded: new Date(stored.get('last-modified') ?? 0).toISOString(),
    httpMetadata: httpMetadata ?? (contentType === null ? {} : { contentType }),
    ...(customMetadata ? { customMetadata } : {}),
  }
  return new Response(method === 'HEAD' ? null : response.body, { headers: { [objectHeader]: encoded(object) } })
}

async function put(bucket: Bucket, key: string, request: Request): Promise<Response> {
  const length = request.headers.get('content-length')
  if (length === null) {
    return new Response(
      'S3 takes a stream of known length only: send it through a FixedLengthStream, or as an ArrayBuffer',
      { status: 411 },
    )
  }
  const sent = request.headers.get(metadataHeader) ?? '%7B%7D'
  const metadata = JSON.parse(decodeURIComponent(sent)) as Metadata
  const { contentType, cacheControl } = metadata.httpMetadata ?? {}
  const headers = {
    'content-length': length,
    [customHeader]: sent,
    'content-type': contentType ?? 'application/octet-stream',
    ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
  }
  const { readable, writable } = new FixedLengthStream(Number(length))
  const copied = request.body ? request.body.pipeTo(writable) : writable.close()
  const answered = bucket.send(objectPath(bucket, key), { method: 'PUT', headers, body: readable })
  const [response] = await Promise.all([answered, copied.catch(() => {})])
  await requireOk(response)
  const object: ObjectJson = {
    key,
    size: Number(length),
    etag: (response.headers.get('etag') ?? '').replaceAll('"', ''),
    uploaded: new Date(response.headers.get('date') ?? Date.now()).toISOString(),
    ...metadata,
  }
  return new Response(null, { headers: { [objectHeader]: encoded(object) } })
}

async function remove(bucket: Bucket, key: string): Promise<void> {
  const response = await bucket.send(objectPath(bucket, key), { method: 'DELETE' })
  if (response.status !== 404) await requireOk(response)
  await response.body?.cancel()
}

async function list(bucket: Bucket, query: URLSearchParams): Promise<ListJson> {
  const limit = Number(query.get('limit') || longestList)
  const parameters = {
    'list-type': '2',
    'encoding-type': 'url',
    prefix: `${bucket.prefix}${query.get('prefix') ?? ''}`,
    'max-keys': String(Math.min(limit, longestList)),
    ...(query.get('cursor') ? { 'continuation-token': query.get('cursor')! } : {}),
  }
  const search = Object.entries(parameters).map(([name, value]) => `${name}=${encodeStrictly(value)}`)
  const xml = await (await requireOk(await bucket.send(`/?${search.sort().join('&')}`, { method: 'GET' }))).text()
  const objects = [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, text = '']) => ({
    key: decodeURIComponent(element(text, 'Key').replaceAll('+', ' ')).slice(bucket.prefix.length),
    size: Number(element(text, 'Size')),
    etag: element(text, 'ETag').replaceAll('"', ''),
    uploaded: new Date(element(text, 'LastModified')).toISOString(),
  }))
  const truncated = element(xml, 'IsTruncated') === 'true'
  return { objects, truncated, ...(truncated ? { cursor: element(xml, 'NextContinuationToken') } : {}) }
}

/** The text of the first element of that name, without its entities. */
function element(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
  const entities: Record<string, string> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&', '#34': '"', '#39': "'" }
  return text.replace(/&([a-z]+|#\d+);/g, (whole, entity: string) => entities[entity] ?? whole)
}

function encoded(object: ObjectJson): string {
  return encodeURIComponent(JSON.stringify(object))
}
