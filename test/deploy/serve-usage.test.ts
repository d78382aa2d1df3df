/** How `stack serve` refuses to start, and what it prints for those who run a stack otherwise (contract 10.1, 10.2). */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { quoted } from '../../deploy/serve/capnp.ts'
import { secretsAt } from '../../deploy/serve/secrets.ts'
import { workerdBinary } from '../../deploy/serve/workerd.ts'
import { findPort } from '../../local/ports.ts'
import { packageRoot, stack } from '../support/command.ts'
import { copyProject, temporaryFolder } from '../support/project.ts'

const nowhere = 'postgresql://owner:owner-secret@127.0.0.1:1/app'

function project(): string {
  const root = path.join(temporaryFolder(), 'orders')
  copyProject(path.join(packageRoot, 'examples/orders'), root)
  return root
}

const serve = (flags: string[], env: Record<string, string> = {}) =>
  stack(['serve', '--project', project(), '--port', '18999', '--no-metrics', ...flags], { env })

describe('a start that cannot be', () => {
  const cases: [string, string[], Record<string, string>, number, string][] = [
    ['without a database', [], {}, 2, 'DATABASE_URL is not set'],
    ['with two of them', [], { DATABASE_URL: nowhere, DATABASE_URL_FILE: '/dev/null' }, 2, 'are both set'],
    ['with a file that is missing', [], { DATABASE_URL_FILE: '/nowhere' }, 2, 'DATABASE_URL_FILE cannot be read'],
    ['with no URL', [], { DATABASE_URL: 'nonsense' }, 2, 'DATABASE_URL is no URL'],
    [
      'where the database does not answer',
      [],
      { DATABASE_URL: nowhere },
      6,
      'the database at 127.0.0.1:1 is not reachable',
    ],
    [
      'with an open address',
      ['--host', '0.0.0.0'],
      { DATABASE_URL: nowhere, STACK_URL: 'http://api.example.com' },
      2,
      'use https',
    ],
    [
      'with a weak secret',
      [],
      { DATABASE_URL: nowhere, SEALING_KEY: 'short' },
      2,
      'SEALING_KEY must have 32 characters',
    ],
    [
      'with a pepper of another form',
      [],
      { DATABASE_URL: nowhere, PASSWORD_PEPPER: 'x'.repeat(40) },
      2,
      '32 bytes in base64url',
    ],
    ['with an unknown proxy', ['--trust-proxy', 'nginx'], { DATABASE_URL: nowhere }, 2, '--trust-proxy nginx'],
    ['with S3 without keys', ['--storage', 's3://bucket'], { DATABASE_URL: nowhere }, 2, 'needs AWS_ACCESS_KEY_ID'],
    [
      'with another protocol',
      ['--storage', 'ftp://bucket'],
      { DATABASE_URL: nowhere },
      2,
      'neither a folder nor s3://',
    ],
    ['with a build that is none', ['--out', '/nowhere'], { DATABASE_URL: nowhere }, 1, 'stack build --out /nowhere'],
    ['to reload nothing', ['--reload'], {}, 3, 'no stack is served from'],
  ]
  it.each(cases)('%s', async (_, flags, env, code, sentence) => {
    const finished = await serve(flags, env)
    expect(finished.stderr).toContain(sentence)
    expect(finished).toMatchObject({ code, stdout: '' })
    expect(finished.stderr).not.toContain('owner-secret')
  })

  it('on a port that is taken', async () => {
    const server = net.createServer()
    onTestFinished(() => void server.close())
    const port = await findPort()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const taken = await stack(['serve', '--project', project(), '--port', String(port), '--no-metrics'], {
      env: { DATABASE_URL: nowhere },
    })
    expect(taken.code).toBe(3)
    expect(taken.stderr).toContain(`port ${port} is taken`)
  })
})

describe('secrets', () => {
  const file = () => path.join(temporaryFolder(), 'secrets.json')

  it('are made once', () => {
    const at = file()
    const first = secretsAt(at, {})
    expect(first.fresh).toContain('SEALING_KEY')
    expect(fs.existsSync(at)).toBe(false) // a start that fails has made nothing
    first.save()
    expect(secretsAt(at, {})).toMatchObject({ values: first.values, fresh: [] })
    expect(fs.statSync(at).mode & 0o777).toBe(0o600)
  })

  it('of the environment are not written', () => {
    const at = file()
    const key = 'k'.repeat(43)
    const given = secretsAt(at, { SEALING_KEY: key })
    expect(given.values.SEALING_KEY).toBe(key)
    given.save()
    expect(fs.readFileSync(at, 'utf8')).not.toContain(key)
  })

  it('that differ from those that were made are refused', () => {
    const at = file()
    const made = secretsAt(at, {})
    const { values } = made
    made.save()
    expect(() => secretsAt(at, { SEALING_KEY: 'k'.repeat(43) })).toThrow(
      /SEALING_KEY of the environment is not the one in .* Unset/,
    )
    expect(secretsAt(at, { SEALING_KEY: values.SEALING_KEY }).fresh).toEqual([])
  })

  it('come from files', () => {
    const mounted = path.join(temporaryFolder(), 'key')
    fs.writeFileSync(mounted, `${'k'.repeat(43)}\n`)
    expect(secretsAt(file(), { SEALING_KEY_FILE: mounted }).values.SEALING_KEY).toBe('k'.repeat(43))
  })

  it('that are damaged are not replaced', () => {
    const at = file()
    fs.writeFileSync(at, '{"SEALING')
    expect(() => secretsAt(at, {})).toThrow('restore it from a backup')
  })
})

describe('--print-config', () => {
  it('workerd takes what it prints', async () => {
    const root = project()
    const port = await findPort()
    const printed = await stack(['serve', '--project', root, '--port', String(port), '--print-config', 'workerd'])
    expect(printed.code, printed.stderr).toBe(0)
    fs.writeFileSync(path.join(root, 'workerd.capnp'), printed.stdout)
    const child = spawn(workerdBinary, ['serve', '--experimental', 'workerd.capnp', 'config'], {
      cwd: root,
      env: { BACKEND_STACK_URL: `http://127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        said += chunk
      })
    }
    const status = await vi.waitUntil(
      async () => (await fetch(`http://127.0.0.1:${port}/orders`).catch(() => undefined))?.status,
      { timeout: 30_000 },
    )
    expect(status, said).toBe(401)
  })

  it.each(['dockerfile', 'systemd'])('prints a %s, and no secret', async (kind) => {
    const secret = `canary-${crypto.randomUUID()}`
    const { code, stdout, stderr } = await serve(['--print-config', kind], {
      DATABASE_URL: nowhere,
      SEALING_KEY: secret,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(
      kind === 'systemd' ? 'ExecReload=/bin/kill -HUP $MAINPID' : 'CMD ["node_modules/.bin/stack", "serve"',
    )
    expect(stdout).not.toContain(secret)
    expect(stdout).not.toContain('owner-secret')
  })
})

describe('a text of the configuration', () => {
  it('cannot end itself', () => {
    expect(quoted('a"b\\c\n\u0000\u007f')).toBe('"a\\"b\\\\c\\n\\x00\\x7f"')
  })
})
