/** `stack completion`, and the words that complete a command line (contract 10.5). */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { completionsOf } from '../../cli/completion/complete.ts'
import { createProgram } from '../../cli/program.ts'
import { packageRoot, stack } from '../support/command.ts'

const complete = (...words: string[]) => completionsOf(createProgram(), words)
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

for (const shell of ['bash', 'zsh', 'fish']) {
  if (!has(shell)) process.stderr.write('A shell is not installed: the test of its completion is skipped.\n')
}

describe('the words that fit', () => {
  it('verbs, flags, choices and topics', () => {
    expect(complete('')).toEqual(expect.arrayContaining(['auth', 'build', 'env', 'help', 'start']))
    expect(complete('auth', 'pro')).toEqual(['providers'])
    expect(complete('auth', 'providers', 'config', '')).toEqual(['clear', 'set'])
    expect(complete('auth', 'settings', 'set', '--password')).toEqual(['--password-max', '--password-min'])
    expect(complete('build', '--format', '')).toEqual(['github', 'json', 'sarif', 'text'])
    expect(complete('help', 'exit')).toEqual(['exit-codes'])
    expect(complete('completion', 'b')).toEqual(['bash'])
    expect(complete('frobnicate-nothing', 'zzz')).toEqual([])
  })
})

describe('the scripts', () => {
  it('another shell is refused with a suggestion', async () => {
    const { code, stderr } = await stack(['completion', 'bsh'])
    expect([code, stderr]).toEqual([2, 'error: there is no completion for "bsh": did you mean bash?\n'])
  })

  it.runIf(has('bash'))('bash completes with it', async () => {
    const { stdout } = await stack(['completion', 'bash'])
    const command = `stack() { '${process.execPath}' '${path.join(packageRoot, 'bin/stack.cjs')}' "$@"; }
${stdout}
COMP_WORDS=(stack auth se); COMP_CWORD=2; _stack; printf '%s ' "\${COMPREPLY[@]}"
COMP_WORDS=(stack auth ''); COMP_CWORD=2; _stack; printf '%s ' "\${COMPREPLY[@]}"`
    const { stdout: found } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
    expect(found.trim().split(' ')).toEqual([
      'sessions',
      'settings',
      'audit',
      'mfa',
      'providers',
      'sessions',
      'settings',
      'templates',
    ])
  })

  it.each(['zsh', 'fish'])('%s takes it without an error, where it is installed', async (shell) => {
    const { stdout } = await stack(['completion', shell])
    expect(stdout).toContain('stack __complete')
    if (!has(shell)) return
    const checked = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
  })
})
