/** A bucket that speaks S3 in memory, and that verifies each signature by the steps of AWS Signature Version 4. */
import { createHash, createHmac } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

interface Stored {
  content: Buffer
  headers: Record<string, string>
}

export interface S3Server {
  url: string
  objects: Map<string, Stored>
  /** Why requests were refused. */
  refused: string[]
  stop(): Promise<void>
}

export interface S3Options {
  bucket: string
  accessKey: string
  secretKey: string
  region: string
}

export async function startS3(options: S3Options): Promise<S3Server> {
  const objects = new Map<string, Stored>()
  const refused: string[] = []
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const fault = signatureFault(request, options)
    if (fault !== undefined) {
      refused.push(fault)
      return void response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
    }
    const url = new URL(request.url!, 'http://s3')
    const key = decodeURIComponent(url.pathname.slice(options.bucket.length + 2))
    const found = objects.get(key)
    const etag = (content: Buffer) => `"${createHash('md5').update(content).digest('hex')}"`
    if (request.method === 'PUT') {
      const kept = Object.entries(request.headers).filter(([name]) =>
        /^(?:content-type|cache-control|x-amz-meta-.*)$/.test(name),
      )
      const content = Buffer.concat(chunks)
      objects.set(key, { content, headers: Object.fromEntries(kept) as Record<string, string> })
      response.writeHead(200, { etag: etag(content) }).end()
    } else if (request.method === 'DELETE') {
      objects.delete(key)
      response.writeHead(204).end()
    } else if (key === '' && url.searchParams.get('list-type') === '2') response.end(listXml(objects, url.searchParams))
    else if (!found) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
    else {
      const { content, headers } = found
      const head = {
        ...headers,
        etag: etag(content),
        'last-modified': new Date().toUTCString(),
        'content-length': content.length,
      }
      response.writeHead(200, head).end(request.method === 'HEAD' ? undefined : content)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    refused,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listXml(objects: Map<string, Stored>, query: URLSearchParams): string {
  const after = query.get('continuation-token') ?? ''
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort()
  const page = keys.slice(0, Number(query.get('max-keys')))
  const contents = page.map((key) => {
    const { content } = objects.get(key)!
    const date = new Date().toISOString()
    return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${date}</LastModified><ETag>&quot;x&quot;</ETag><Size>${content.length}</Size></Contents>`
  })
  const isTruncated = keys.length > page.length
  const token = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`
}

/** @returns why the signature is not the right one, or `undefined`. */
function signatureFault(
  request: http.IncomingMessage,
  { accessKey, secretKey, region }: S3Options,
): string | undefined {
  const header = request.headers.authorization ?? ''
  const [, key, date, scope, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? []
  if (key !== accessKey) return `the access key is ${key}`
  if (scope !== `${region}/s3/aws4_request`) return `the scope is ${scope}`
  const url = new URL(request.url!, 'http://s3')
  const query = [...url.searchParams].map(([name, value]) => `${strictly(name)}=${strictly(value)}`).sort()
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => strictly(decodeURIComponent(part)))
      .join('/'),
    query.join('&'),
    ...names!.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    request.headers['x-amz-content-sha256'],
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], `${date}/${scope}`, sha256(canonical)].join('\n')
  const steps = [date!, region, 's3', 'aws4_request']
  const signing = steps.reduce<Buffer>(
    (hmac, step) => createHmac('sha256', hmac).update(step).digest(),
    Buffer.from(`AWS4${secretKey}`),
  )
  const expected = createHmac('sha256', signing).update(text).digest('hex')
  return expected === signature ? undefined : `the signature of ${request.method} ${request.url} is another one`
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}
