/** Starts the project's stack once for all tests, or uses the one that runs already. */
import { spawn } from 'node:child_process'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

interface Stack {
  base_url: string
}

const command = new URL('../node_modules/@stack/backend/bin/stack.cjs', import.meta.url)
const child = spawn(process.execPath, [fileURLToPath(command), 'start', '--json'], {
  cwd: new URL('..', import.meta.url),
  stdio: ['ignore', 'pipe', 'inherit'],
})

const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))

/** The first line of the output describes the stack. The lines after it are its log. */
export const stack = await new Promise<Stack>((resolve, reject) => {
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    const [first, rest] = output.split('\n', 2)
    if (rest !== undefined) resolve(JSON.parse(first!))
  })
  ended.then(() => reject(new Error('the stack has not started: its reason is above')))
})

after(async () => {
  child.kill('SIGINT')
  await ended
})
// node:test runs `after` when nothing else keeps the process alive
child.unref()
;(child.stdout as unknown as { unref(): void }).unref()

/** Sends a request to the stack. */
export async function call(path: string, { token, json }: { token?: string; json?: unknown } = {}) {
  const response = await fetch(stack.base_url + path, {
    method: json === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  return { status: response.status, json: JSON.parse((await response.text()) || 'null') }
}

/** Signs up a new person. @returns their access token. */
export async function signUp(): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`
  const { json } = await call('/auth/sign-up', { json: { email, password: 'correct horse battery' } })
  return json.access_token
}
