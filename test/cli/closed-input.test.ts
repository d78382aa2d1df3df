/** Every command ends by itself where standard input is closed: with the right code, and without a question (contract 10.1, 10.5). */
import { describe, expect, it } from 'vitest'
import type { Verb } from '../../cli/shared/verb.ts'
import { verbs } from '../../cli/verbs.ts'
import { packageRoot, startProcess } from '../support/command.ts'
import { temporaryProject } from '../support/project.ts'
import { record } from '../support/recorder.ts'

/**
 * The code of each verb with its required words, the environment `staging`, and nothing else: 0 where that is a whole command, 2 where a
 * value is missing, 1 in a project that holds no source, 3 where the local stack would be needed.
 */
const codes: Record<string, number> = {
  build: 1,
  explain: 0,
  start: 1,
  init: 2,
  push: 2,
  serve: 2,
  env: 0,
  'env list': 0,
  'env create': 2,
  'env use': 3,
  login: 2,
  logout: 0,
  link: 0,
  'auth settings get': 0,
  'auth settings set': 2,
  'auth providers list': 0,
  'auth providers enable': 0,
  'auth providers disable': 0,
  'auth providers config set': 2,
  'auth providers config clear': 0,
  'auth sessions list': 0,
  'auth sessions revoke': 0,
  'auth sessions revoke-all': 0,
  'auth audit': 0,
  'auth templates list': 0,
  'auth templates get': 0,
  'auth templates set': 2,
  'auth templates send-test': 2,
  'auth mfa get': 0,
  'auth mfa reset': 0,
  'roles create': 0,
  'roles list': 0,
  'roles of': 0,
  'roles assign': 0,
  'roles revoke': 0,
  'roles delete': 0,
  'operators add': 0,
  'operators remove': 0,
  'operators list': 0,
  'secret set': 2,
  'secret list': 0,
  'secret unset': 0,
  token: 3,
  'devices list': 0,
  'devices revoke': 0,
  'webhooks list': 1,
  'webhooks send': 1,
  'webhooks deliveries': 0,
  'webhooks replay': 3,
  'cron list': 1,
  'cron run': 1,
  completion: 2,
}

/** Commands that are told to read standard input, and find it at its end. */
const readers: [string, string][] = [
  ['login --env staging --stdin', 'standard input holds no credential'],
  ['secret set NAME --stdin --env staging', 'the value of NAME is empty'],
  ['auth settings set --json - --env staging', 'standard input'],
  ['auth providers config set google --json - --env staging', 'standard input'],
  ['auth templates set confirm_email --json - --env staging', 'standard input'],
]

const list = '{"data":[],"has_more":false,"next_cursor":null}'

async function project() {
  const { url, requests } = await record((response, { method }) => {
    if (method === 'GET') response.writeHead(200, { 'content-type': 'application/json' }).end(list)
    else response.writeHead(204).end()
  })
  const environments = { staging: { ref: 'abcdefghm', url } }
  const root = temporaryProject({ 'stack/project.json': JSON.stringify({ project: 'shop', environments }) })
  return { root, requests }
}

/** Runs a command without a standard input. */
function withoutInput(words: readonly string[], root: string) {
  const command = ['-c', 'exec "$@" <&-', 'sh', process.execPath, `${packageRoot}/bin/stack.cjs`, ...words]
  const env = { STACK_SERVICE_ROLE_KEY: 'srk_1', XDG_CONFIG_HOME: root, DATABASE_URL: '' }
  return startProcess('sh', command, root, env).finished
}

/** The shortest command line that is accepted. */
function wordsOf({ name, positionals = {}, options }: Verb): string[] {
  const required = Object.keys(positionals).filter((syntax) => syntax.startsWith('<'))
  const environment = options.some(({ long }) => long === '--env') ? ['--env', 'staging'] : []
  return [...name.split(' '), ...required.map(() => 'word'), ...environment]
}

/** Number of commands at the same time. */
const together = 4

describe('standard input is closed', () => {
  it('every verb of the command table ends with its code, and asks nothing', async () => {
    expect(Object.keys(codes)).toEqual(verbs.map(({ name }) => name))
    const { root } = await project()
    const odd: unknown[] = []
    for (let from = 0; from < verbs.length; from += together) {
      await Promise.all(
        verbs.slice(from, from + together).map(async (verb) => {
          const { code, stderr } = await withoutInput(wordsOf(verb), root)
          if (code !== codes[verb.name] || /\[y\/N\]|\?\s*$|\u001b/.test(stderr)) odd.push([verb.name, code, stderr])
        }),
      )
    }
    expect(odd).toEqual([])
  })

  it.each(readers)('stack %s: exit 2, and nothing is sent', async (line, sentence) => {
    const { root, requests } = await project()
    const { code, stdout, stderr } = await withoutInput(line.split(' '), root)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(sentence)])
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})
