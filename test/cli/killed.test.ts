/** Commands that are killed while they write: each file is the old one or the new one, and never torn (contract 8.1). */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot, stack } from '../support/command.ts'
import { record } from '../support/recorder.ts'

let folder: string

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-killed-'))
})

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** Starts a command, and kills it with its children after the time. */
function kill(words: string[], root: string, env: Record<string, string>, afterMs: number): Promise<void> {
  const { INIT_CWD: _npm, ...inherited } = process.env
  const args = [path.join(packageRoot, 'bin/stack.cjs'), ...words]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...inherited, ...env },
    stdio: 'ignore',
    detached: true,
  })
  return new Promise((resolve) => {
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), afterMs)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

interface Case {
  words: (round: number) => string[]
  /** The files that the command writes. */
  files: string[]
}

const cases: [string, Case][] = [
  [
    'env use',
    { words: (round) => ['env', 'use', round % 2 ? 'staging' : 'production'], files: ['.stack/selection.json'] },
  ],
  [
    'env create',
    { words: (round) => ['env', 'create', `e${round}`, '--url', 'https://x.example'], files: ['stack/project.json'] },
  ],
  [
    'roles create',
    { words: (round) => ['roles', 'create', `r${round}`, '--env', 'staging'], files: ['stack/roles.json'] },
  ],
  ['login', { words: () => ['logout', '--env', 'staging'], files: ['config/stack/credentials.json'] }],
]

/** Kills of each command, at moments that are spread over the time that a whole run takes. */
const rounds = 25

describe('SIGKILL at random moments', () => {
  it.each(cases)('%s', async (_name, { words, files }) => {
    const { url } = await record((response) => response.writeHead(200).end('{}'))
    const root = fs.mkdtempSync(path.join(folder, 'project-'))
    const write = (name: string, value: unknown) => {
      fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
      fs.writeFileSync(path.join(root, name), JSON.stringify(value))
    }
    const environments = { staging: { ref: 'abcdefghm', url }, production: { ref: 'bbbbbbbbm', url } }
    write('stack/project.json', { project: 'shop', environments })
    write('stack/roles.json', { roles: [] })
    write('.stack/selection.json', { environment: 'staging' })
    write('config/stack/credentials.json', { abcdefghm: { service_role_key: 'srk_1' } })
    fs.chmodSync(path.join(root, 'config/stack/credentials.json'), 0o600)
    const env = { XDG_CONFIG_HOME: path.join(root, 'config'), STACK_SERVICE_ROLE_KEY: 'srk_1' }
    const began = performance.now()
    expect((await stack(words(1000), { cwd: root, env })).code).toBe(0)
    const whole = performance.now() - began
    for (let round = 0; round < rounds; round++) {
      await kill(words(round), root, env, whole * (0.3 + (0.9 * round) / rounds))
      for (const file of files) {
        const text = fs.readFileSync(path.join(root, file), 'utf8')
        expect(() => JSON.parse(text), text).not.toThrow()
      }
    }
    // what was left over disturbs no later run
    expect((await stack(words(1001), { cwd: root, env })).code).toBe(0)
  })
})

const tmpfs = '/dev/shm'
if (!fs.existsSync('/dev/full')) process.stderr.write('There is no /dev/full: the test of a full disk is skipped.\n')

describe('a disk that is full', () => {
  it.runIf(fs.existsSync('/dev/full'))('keeps the old file, and says what failed', async () => {
    const root = fs.mkdtempSync(path.join(fs.existsSync(tmpfs) ? tmpfs : folder, 'stack-full-'))
    try {
      fs.mkdirSync(path.join(root, 'stack'))
      const before = JSON.stringify({ project: 'shop' })
      fs.writeFileSync(path.join(root, 'stack/project.json'), before)
      // The temporary file beside the real one is a link to a device that takes nothing.
      const child = spawn(
        'sh',
        [
          '-c',
          `ln -s /dev/full stack/project.json.$$.tmp; exec "$0" "$@"`,
          process.execPath,
          path.join(packageRoot, 'cli/main.ts'),
          'env',
          'create',
          'staging',
          '--url',
          'https://x.example',
        ],
        { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] } },
      )
      let stderr = ''
      child.stderr.on('data', (chunk) => (stderr += chunk))
      const code = await new Promise((resolve) => child.once('close', resolve))
      expect([code, stderr]).toEqual([1, expect.stringContaining('ENOSPC')])
      expect(fs.readFileSync(path.join(root, 'stack/project.json'), 'utf8')).toBe(before)
    } finally {
      fs.rmSync(root, { recursive: true, force: true })
    }
  })
})
