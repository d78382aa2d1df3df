/** A command that is printed for a shell has the same meaning when it is pasted there. */
import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { shellWord } from '../../cli/shared/shell.ts'

const hasBash = !spawnSync('bash', ['--version']).error

const texts = [
  'plain/path-1.json',
  '',
  'two words',
  `it's "quoted"`,
  '$HOME $(id) `id`',
  "wow!! !$ !1 it's!",
  'a\\b\\\\n',
  'one\ntwo\r\n\tthree\n',
  "line\n'quoted' !! \\ $HOME",
  '\u001b[2J\u0085\u0007',
  'a;b&c|d>e<f(g)h{i}j[k]*?~#',
  '=ls',
  '-n',
  'żółć 🚀',
]

if (!hasBash) process.stderr.write('the quoting of printed commands is skipped: there is no bash\n')

describe('shellWord', () => {
  it('leaves a plain word as it is, and quotes every other', () => {
    expect(shellWord('http://127.0.0.1:8787/orders')).toBe('http://127.0.0.1:8787/orders')
    expect(shellWord("it's")).toBe(`'it'\\''s'`)
    expect(shellWord('a\nb')).toBe(`$'a\\012b'`)
  })

  it.skipIf(!hasBash).each(texts)('%j is one word of bash, also of one that expands its history', (text) => {
    const command = `printf '<%s>' ${shellWord(text)}`
    expect(execFileSync('bash', ['-c', command], { encoding: 'utf8' })).toBe(`<${text}>`)
    const interactive = `set -o history -o histexpand\necho before\n${command}\n`
    const args = ['--norc', '--noprofile']
    const env = { PATH: process.env['PATH']!, HISTFILE: '/dev/null' }
    expect(execFileSync('bash', args, { input: interactive, encoding: 'utf8', env })).toBe(`before\n<${text}>`)
  })

  it.skipIf(!hasBash)('a bash that expands its history would take the same text in double quotes for a command', () => {
    const input = 'set -o history -o histexpand\necho before\nprintf "<%s>" "!!"\n'
    const { stdout } = spawnSync('bash', ['--norc', '--noprofile'], { input, encoding: 'utf8' })
    expect(stdout).not.toContain('<!!>')
  })
})
