/**
 * Serves the sign-in page on loopback: `node web/serve.mjs` (PORT, default 5173). Every other path goes on to the stack of the snapshot,
 * so that the page and the stack's routes are of one origin for the browser.
 */
import { readFile } from 'node:fs/promises'
import http from 'node:http'

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/sign-in.js': ['sign-in.js', 'text/javascript'],
  '/oauth.json': ['../stack/oauth/web.json', 'application/json'],
}
const policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'"

const read = (name) => readFile(new URL(name, import.meta.url))

async function forward(request, response) {
  const { base_url } = JSON.parse(await read(files['/oauth.json'][0]))
  const chunks = await Array.fromAsync(request)
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
  const answer = await fetch(`${base_url}${request.url}`, {
    method: request.method,
    headers,
    redirect: 'manual',
    ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
  })
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
  response.end(Buffer.from(await answer.arrayBuffer()))
}

const server = http.createServer(async (request, response) => {
  try {
    const file = files[new URL(request.url, 'http://localhost').pathname]
    if (!file) return await forward(request, response)
    const body = await read(file[0])
    response.writeHead(200, { 'content-type': file[1], 'cache-control': 'no-store', 'content-security-policy': policy })
    response.end(body)
  } catch (error) {
    const isMissing = error.code === 'ENOENT'
    response
      .writeHead(isMissing ? 404 : 502)
      .end(isMissing ? 'not found: run `stack link`' : 'the stack does not answer')
  }
})
server.listen(Number(process.env.PORT ?? 5173), '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}/`)
})
