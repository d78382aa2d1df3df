/** The launcher chooses the Node that runs a command, and passes on arguments, signals and exit codes. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot, startProcess } from '../support/command.ts'
import { temporaryFolder } from '../support/project.ts'

const launcher = path.join(packageRoot, 'bin/with-node.cjs')
const run = (node: string, args: string[], cwd = packageRoot) => startProcess(node, [launcher, ...args], cwd)

/** The Node that npm itself runs on, where that is an older one. */
const older = oldNode()

function oldNode(): string | undefined {
  const candidates = (process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, 'node'))
  return candidates.find(
    (file) =>
      fs.existsSync(file) &&
      fs.realpathSync(file) !== fs.realpathSync(process.execPath) &&
      !file.includes('node_modules'),
  )
}

function script(text: string): string {
  const file = path.join(temporaryFolder(), 'script.mjs')
  fs.writeFileSync(file, text)
  return file
}

it('the tests run on a Node that is new enough, whatever npm ran on', () => {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
  expect(major * 100 + minor).toBeGreaterThanOrEqual(2218)
})

if (!older) process.stderr.write('the launcher by way of an older Node is skipped: there is none here\n')

describe.each([
  ['straight on', process.execPath],
  ['by way of the Node that npm brought', older],
])('%s', (_what, node) => {
  it.skipIf(!node)('passes arguments, and the exit code back', async () => {
    const file = script('process.stdout.write(process.argv.slice(2).join() + process.version); process.exit(7)')
    const { code, stdout } = await run(node!, [file, 'a b', '--c']).finished
    expect([code, stdout.replace(/v[\d.]+$/, '')]).toEqual([7, 'a b,--c'])
    expect(Number(/v(\d+)/.exec(stdout)![1])).toBeGreaterThanOrEqual(22)
  })

  it.skipIf(!node)('a signal reaches the script, which ends as it will', async () => {
    const file = script(`process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('up')`)
    const running = run(node!, [file])
    await running.seen('up')
    running.child.kill('SIGTERM')
    expect((await running.finished).code).toBe(9)
  })

  it.skipIf(!node)('a failing test run exits 1', async () => {
    const folder = temporaryFolder()
    fs.writeFileSync(
      path.join(folder, 'x.test.ts'),
      `import { expect, it } from 'vitest'\nit('fails', () => expect(1).toBe(2))`,
    )
    const { code } = await run(node!, [
      'vitest',
      'run',
      '--root',
      folder,
      '--config',
      path.join(packageRoot, 'test/support/no-config.ts'),
    ]).finished
    expect(code).toBe(1)
  })

  it.skipIf(!node)('a tool that is not installed: one sentence, exit 3', async () => {
    const { code, stderr } = await run(node!, ['no-such-tool']).finished
    expect([code, stderr]).toEqual([3, 'error: "no-such-tool" is not installed: run npm ci\n'])
  })
})

it.skipIf(!older)('without a Node that is new enough: one sentence, exit 3', async () => {
  const folder = temporaryFolder()
  fs.cpSync(path.join(packageRoot, 'bin'), path.join(folder, 'bin'), { recursive: true })
  const running = startProcess(older!, [path.join(folder, 'bin/with-node.cjs'), script('')], folder)
  const { code, stderr } = await running.finished
  expect(code).toBe(3)
  expect(stderr).toMatch(/^error: Node 22\.18 or newer is needed, and this is v\d+\.\d+\.\d+\. Install a newer Node/)
})

describe('the installed command', () => {
  /** The launcher beside a compiled command that prints its Node, as the package has them. */
  function installed(): string {
    const folder = temporaryFolder()
    fs.cpSync(path.join(packageRoot, 'bin'), path.join(folder, 'bin'), { recursive: true })
    fs.mkdirSync(path.join(folder, 'cli'))
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module", "version": "1.2.3" }')
    fs.writeFileSync(path.join(folder, 'cli/main.js'), 'console.log(parseFloat(process.versions.node) < 22)')
    return folder
  }
  const call = (folder: string, args: string[]) =>
    startProcess(older!, [path.join(folder, 'bin/stack.cjs'), ...args], folder).finished

  it.skipIf(!older).each([[['init', 'shop']], [['help']], [['build', '--help']], [['env', '-h']], [[]]])(
    'runs %j on an older Node, before a project has brought a newer one',
    async (args) => {
      expect(await call(installed(), args)).toEqual({ code: 0, stdout: 'true\n', stderr: '' })
    },
  )

  it.skipIf(!older).each([[['build']], [['start', '--json']], [['env', 'list']]])(
    'needs a newer Node for %j: one sentence, exit 3',
    async (args) => {
      const { code, stdout, stderr } = await call(installed(), args)
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toMatch(/^error: Node 22\.18 or newer is needed/)
    },
  )

  it('a script below the folder where the command was typed comes before one of the package', async () => {
    const folder = temporaryFolder()
    fs.mkdirSync(path.join(folder, 'cli'))
    fs.writeFileSync(path.join(folder, 'cli/main.ts'), "console.log('own')")
    const { code, stdout } = await run(process.execPath, ['cli/main.ts'], folder).finished
    expect([code, stdout]).toEqual([0, 'own\n'])
  })
})
