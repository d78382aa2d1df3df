/** Questions at a terminal, and their absence elsewhere (contract 10.1, 10.5, 10.7). */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageRoot, stack, startProcess } from '../support/command.ts'
import { record } from '../support/recorder.ts'

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!hasTerminal) process.stderr.write('There is no `script` command: the tests on a terminal are skipped.\n')
const key = { STACK_SERVICE_ROLE_KEY: 'srk_1' }

async function beside() {
  const { url, requests } = await record((response) => response.writeHead(204).end())
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-terminal-'))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }))
  fs.mkdirSync(path.join(root, 'stack'))
  const environments = { staging: { ref: 'abcdefghm', url } }
  fs.writeFileSync(path.join(root, 'stack/project.json'), JSON.stringify({ project: 'shop', environments }))
  return { root, requests }
}

const revoke = ['auth', 'sessions', 'revoke-all', 'usr_1', '--env', 'staging']

/** Runs a command on a pseudo-terminal with typed characters. Standard output goes to a file. */
async function typed(root: string, words: string[], input: string) {
  const command = [process.execPath, path.join(packageRoot, 'bin/stack.cjs'), ...words]
    .map((word) => `'${word}'`)
    .join(' ')
  const script = `trap : INT; stty -g > before; ${command} > out; echo "exit $?"; stty -g > after`
  const running = startProcess('script', ['-qec', script, '/dev/null'], root, { ...key, NO_COLOR: '1' }, null)
  await running.seen('[y/N]')
  running.child.stdin!.write(input)
  const { stdout } = await running.finished
  const read = (name: string) => fs.readFileSync(path.join(root, name), 'utf8')
  expect(read('after')).toBe(read('before'))
  return { seen: stdout.replaceAll('\r\n', '\n'), out: read('out') }
}

describe.runIf(hasTerminal)('a verb that ends something, on a terminal', () => {
  it('asks on stderr, and sends the call after yes', async () => {
    const { root, requests } = await beside()
    const { seen, out } = await typed(root, revoke, 'y\n')
    expect([seen.includes('end EVERY session of usr_1 on shop/staging? [y/N]'), out]).toEqual([true, ''])
    expect([seen.includes('exit 0'), requests.length]).toEqual([true, 1])
  })

  it.each([
    ['no', 'n\n'],
    ['an empty line', '\n'],
    ['anything else', 'yess\n'],
    ['the end of the input', '\u0004'],
    ['Ctrl-C', '\u0003'],
  ])('%s sends nothing, is exit 130, and leaves the terminal as it was', async (_what, input) => {
    const { root, requests } = await beside()
    const { seen } = await typed(root, revoke, input)
    expect([seen.includes('cancelled: nothing was sent'), seen.includes('exit 130'), requests]).toEqual([
      true,
      true,
      [],
    ])
  })
})

describe('without a terminal', () => {
  it('the documented call is sent without a question', async () => {
    const { root, requests } = await beside()
    const { code, stderr } = await stack(revoke, { cwd: root, env: key })
    expect([code, stderr, requests.length]).toEqual([0, 'shop/staging\n', 1])
  })

  it('STACK_CONFIRM=require demands --yes', async () => {
    const { root, requests } = await beside()
    const env = { ...key, STACK_CONFIRM: 'require' }
    const refused = await stack(revoke, { cwd: root, env })
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'error: STACK_CONFIRM=require demands --yes to end EVERY session of usr_1 on shop/staging\n',
    ])
    expect(requests).toEqual([])
    expect((await stack([...revoke, '--yes'], { cwd: root, env })).code).toBe(0)
    expect(requests).toHaveLength(1)
  })
})
