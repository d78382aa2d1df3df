/** `stack init` (contract 10.5): what it makes works at once, and what it refuses leaves nothing behind. */
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { backendSpecifier, filesOf, needsNode, nodeVersion, templates, versions } from '../../cli/init/template.ts'
import { packageRoot, stack, start, startProcess } from '../support/command.ts'
import { linkPackages, temporaryFolder } from '../support/project.ts'

const offline = ['--no-install', '--no-git', '--yes']
const read = (...parts: string[]) => fs.readFileSync(path.join(...parts), 'utf8')
const init = (cwd: string, args: string[], env?: Record<string, string>) =>
  stack(['init', ...args], { cwd, ...(env && { env }) })

/** A folder that holds what an installation would. */
function withPackages(root: string): string {
  const scope = path.join(root, 'node_modules/@stack')
  fs.mkdirSync(scope, { recursive: true })
  fs.symlinkSync(packageRoot, path.join(scope, 'backend'), 'junction')
  linkPackages(root)
  return root
}

describe('what it makes', () => {
  it.each(Object.keys(templates))('builds: %s', async (template) => {
    const folder = temporaryFolder()
    const made = await init(folder, ['shop', '--template', template, ...offline, '--json'])
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringContaining('next: cd shop && npm install && npm start\n'),
    ])
    const root = withPackages(path.join(folder, 'shop'))
    const { files } = JSON.parse(made.stdout) as { files: string[] }
    expect(files.filter((name) => !fs.existsSync(path.join(root, name)))).toEqual([])
    const built = await stack(['build'], { cwd: root })
    expect([built.code, built.stderr.match(/^(?:error|warning).*/gm) ?? []]).toEqual([0, []])
    const told = built.stdout + built.stderr
    expect(told.includes('/webhooks/payments')).toBe(template !== 'api')
    expect(told.includes('/notes')).toBe(template !== 'webhooks')
  })

  it('passes its own tests, by the script of its package.json', async () => {
    const folder = temporaryFolder()
    await init(folder, ['shop', ...offline])
    const root = withPackages(path.join(folder, 'shop'))
    const [program, ...words] = JSON.parse(read(root, 'package.json')).scripts.test.split(' ')
    expect(program).toBe('node')
    const { code, stdout } = await startProcess(process.execPath, words, root).finished
    expect([code, /# pass (\d+)/.exec(stdout)?.[1], /# fail (\d+)/.exec(stdout)?.[1]]).toEqual([0, '5', '0'])
  })

  it('has its own name, the versions of this repository, and nothing of git or npm that is hidden by a name', async () => {
    const folder = temporaryFolder()
    await init(folder, ['My Shop_2', ...offline])
    const root = path.join(folder, 'My Shop_2')
    const manifest = JSON.parse(read(root, 'package.json'))
    expect(manifest.name).toBe('my-shop_2')
    expect(JSON.parse(read(root, 'stack/project.json'))).toEqual({
      $schema: '../node_modules/@stack/backend/docs/project.schema.json',
      project: 'my-shop_2',
    })
    expect(read(root, 'README.md')).toMatch(/^# my-shop_2\n/)
    expect(fs.readdirSync(root).sort()).toEqual(
      [
        '.dev.vars',
        '.gitignore',
        'README.md',
        'migrations',
        'package.json',
        'src',
        'stack',
        'test',
        'tsconfig.json',
        'wrangler.toml',
      ].sort(),
    )
    const own = JSON.parse(read(packageRoot, 'package.json'))
    const known = { ...own.dependencies, ...own.devDependencies }
    expect(Object.entries(versions).filter(([name, version]) => known[name] !== version)).toEqual([])
    expect(read(packageRoot, 'bin/with-node.cjs')).toContain(`@${nodeVersion} `)
    expect(manifest.allowScripts).toEqual(own.allowScripts)
    const example = read(packageRoot, 'examples/orders/wrangler.toml')
    expect(read(root, 'wrangler.toml')).toBe(example.replace('name = "orders"', 'name = "my-shop-2"'))
  })

  it('has the Node of npm where the running one is too old, and not otherwise', () => {
    const running = process.versions.node
    const nodes = (version: string) => {
      Object.defineProperty(process.versions, 'node', { value: version, configurable: true })
      try {
        return Object.keys(JSON.parse(filesOf('api', 'shop', '1.0.0').get('package.json')!).optionalDependencies ?? {})
      } finally {
        Object.defineProperty(process.versions, 'node', { value: running, configurable: true })
      }
    }
    expect([nodes('22.18.0'), nodes('24.0.0')]).toEqual([[], []])
    const own = JSON.parse(read(packageRoot, 'tools/node/package.json'))
    expect(nodes('20.20.2')).toEqual(Object.keys(own.optionalDependencies))
    expect(Object.values(own.optionalDependencies)).toEqual(nodes('20.20.2').map(() => nodeVersion))
    expect(['22.17.9', '20.20.2', '22.18.0', '23.0.0'].map((version) => needsNode(version))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('names this package by its version, or by the file that it was installed from', () => {
    expect(backendSpecifier(packageRoot)).toBe(`file:${packageRoot}`)
    const folder = temporaryFolder()
    const installed = path.join(folder, 'node_modules/@stack/backend')
    const { version } = JSON.parse(read(packageRoot, 'package.json'))
    expect(backendSpecifier(installed)).toBe(version)
    const lock = (resolved: string) => {
      fs.mkdirSync(installed, { recursive: true })
      const packages = { 'node_modules/@stack/backend': { resolved } }
      fs.writeFileSync(path.join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
    }
    lock('https://registry.example/backend.tgz')
    expect(backendSpecifier(installed)).toBe(version)
    lock('file:../backend.tgz')
    expect(backendSpecifier(installed)).toBe(`file:${path.join(path.dirname(folder), 'backend.tgz')}`)
  })
})

describe('the folder', () => {
  it('may exist and be empty but for .git, also where the person stands in it', async () => {
    const folder = temporaryFolder()
    fs.mkdirSync(path.join(folder, '.git'))
    const { ino } = fs.statSync(folder)
    const { code, stderr } = await init(folder, ['.', ...offline])
    expect([code, fs.statSync(folder).ino]).toEqual([0, ino])
    expect(stderr).toContain('next: npm install && npm start\n')
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('with files in it is refused with their names, and stays as it was', async () => {
    const folder = temporaryFolder()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) fs.writeFileSync(path.join(folder, name), '')
    const { code, stdout, stderr } = await init(folder, ['.', ...offline])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('is not empty: it has a, b, c, d, e and 2 more. Name a new folder: nothing was made')
    expect(fs.readdirSync(folder)).toHaveLength(7)
  })

  it.each([
    [['a-file'], 'is a file'],
    [['...'], 'gives the project no name'],
    [['shop', '--template', 'wbhooks'], 'there is no template "wbhooks": did you mean webhooks?'],
    [[], 'the folder of the project is missing. Usage: stack init <dir> [options]'],
  ])('%j is refused, and nothing is made', async (args, sentence) => {
    const folder = temporaryFolder()
    fs.writeFileSync(path.join(folder, 'a-file'), '')
    const { code, stdout, stderr } = await init(folder, [...args, ...offline])
    expect([code, stdout, fs.readdirSync(folder)]).toEqual([2, '', ['a-file']])
    expect(stderr).toContain(sentence)
  })

  it('SIGKILL at any moment leaves a whole project or none', async () => {
    const folder = temporaryFolder()
    const began = performance.now()
    await init(folder, ['whole', ...offline])
    const took = performance.now() - began
    const whole = fs.readdirSync(path.join(folder, 'whole'), { recursive: true }).length
    for (let kill = 0; kill < 12; kill++) {
      const running = start(['init', `shop-${kill}`, ...offline], { cwd: folder })
      await new Promise((resolve) => setTimeout(resolve, took * (0.4 + Math.random() * 0.7)))
      running.child.kill('SIGKILL')
      await running.finished
      const root = path.join(folder, `shop-${kill}`)
      if (fs.existsSync(root)) expect(fs.readdirSync(root, { recursive: true })).toHaveLength(whole)
    }
  })
})

describe('git and npm', () => {
  const hasGit = !spawnSync('git', ['--version']).error

  it('a repository is begun outside of another one, and not with --no-git', async () => {
    const folder = temporaryFolder()
    await init(folder, ['shop', '--no-install', '--yes'])
    expect(fs.existsSync(path.join(folder, 'shop/.git'))).toBe(hasGit)
    await init(path.join(folder, 'shop'), ['inner', '--no-install', '--yes'])
    expect(fs.existsSync(path.join(folder, 'shop/inner/.git'))).toBe(false)
    await init(folder, ['other', ...offline])
    expect(fs.existsSync(path.join(folder, 'other/.git'))).toBe(false)
  })

  /** A folder whose `npm` does what the script says. */
  function withNpm(script: string): Record<string, string> {
    const bin = temporaryFolder()
    fs.writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return { PATH: `${bin}${path.delimiter}${process.env['PATH']}` }
  }

  it('npm install runs in the project, and its output goes to stderr', async () => {
    const folder = temporaryFolder()
    const args = ['shop', '--yes', '--no-git', '--json']
    const { code, stdout, stderr } = await init(folder, args, withNpm('echo "$@ in $(pwd) for $INIT_CWD."'))
    expect([code, JSON.parse(stdout).installed]).toEqual([0, true])
    expect(stderr).toContain(`install --no-audit --no-fund in ${fs.realpathSync(folder)}/shop for .\n`)
    expect(stderr).toContain('next: cd shop && npm start\n')
  })

  it('an install that fails: exit 1 with what to do, and the project stays', async () => {
    const folder = temporaryFolder()
    const { code, stderr } = await init(folder, ['shop', '--yes', '--no-git'], withNpm('exit 7'))
    expect([code, fs.existsSync(path.join(folder, 'shop/package.json'))]).toEqual([1, true])
    expect(stderr).toContain('npm install ended with 7: the project is made. Run `npm install` in shop')
  })

  it.each([
    [['shop'], { npm_config_template: 'true' }, 'npm took --template for itself: write -- before the command'],
    [['shop', 'api'], { npm_config_template: 'true' }, 'npm took --template for itself: write -- before the command'],
    [['shop'], { npm_config_install: '' }, 'npm took --no-install for itself'],
    [['shop'], { npm_config_git: 'false' }, 'npm took --no-git for itself'],
    [[], { npm_config_yes: 'true' }, '(npm took --yes for itself'],
  ])('flags that npm took are named: %j %j', async (args, env, sentence) => {
    const folder = temporaryFolder()
    const { code, stderr } = await init(folder, args, { npm_command: 'exec', ...env })
    expect([code, fs.readdirSync(folder)]).toEqual([2, []])
    expect(stderr).toContain(sentence)
  })

  it('npx -y takes no flag of this command', async () => {
    const { code } = await init(temporaryFolder(), ['shop', ...offline], {
      npm_command: 'exec',
      npm_config_yes: 'true',
    })
    expect(code).toBe(0)
  })
})

describe('on a terminal', () => {
  const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
  if (!hasTerminal) process.stderr.write('the questions of init are skipped: there is no pseudo-terminal here\n')

  /** Types each text when its question is there. @returns the output. */
  async function typed(folder: string, answers: readonly (readonly [question: string, text: string])[]) {
    const words = [process.execPath, path.join(packageRoot, 'bin/stack.cjs'), 'init', '--no-install', '--no-git']
    const command = words.map((word) => `'${word}'`).join(' ')
    const { CI: _ci, ...env } = process.env
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env: { ...env, INIT_CWD: folder } })
    const waiting = [...answers]
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      const [next] = waiting
      if (!next || !output.includes(next[0])) return
      waiting.shift()
      child.stdin.write(next[1])
    })
    await new Promise((resolve) => child.once('close', resolve))
    return output
  }

  it.runIf(hasTerminal)('the folder and the template are asked', async () => {
    const folder = temporaryFolder()
    const output = await typed(folder, [
      ['project: ', 'shop\n'],
      ['template [full]: ', 'api\n'],
    ])
    expect(output).toContain('folder of the project: ')
    expect(output).toContain('template [full]: ')
    expect(fs.existsSync(path.join(folder, 'shop/src/notes.controller.ts'))).toBe(true)
    expect(fs.existsSync(path.join(folder, 'shop/src/payments.webhook.ts'))).toBe(false)
  })

  it.runIf(hasTerminal)('Ctrl-C at a question: nothing is made', async () => {
    const folder = temporaryFolder()
    const output = await typed(folder, [
      ['project: ', 'shop\n'],
      ['template [full]: ', '\x03'],
    ])
    expect(output).toContain('cancelled: nothing was made')
    expect(fs.readdirSync(folder)).toEqual([])
  })
})
