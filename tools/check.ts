/** Every check that is no test: types per room, lint and format, dead code, and the package in an empty folder. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { faultsOfLists } from './mutants/lists.ts'
import { pack } from './pack.ts'
import { longFunctions } from './shape.ts'
import { checkWords } from './words.ts'

const root = path.resolve(import.meta.dirname, '..')
/** Where npm stands is not where a check stands. */
const { INIT_CWD: _npm, ...env } = process.env

const bin = (file: string) => path.join(root, 'node_modules', file)

interface Check {
  name: string
  run: () => void | Promise<void>
}

/** Runs a tool on this very Node. @throws Error with what it printed. */
function run(script: string, args: string[], cwd = root): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`.trim() || `exit ${status}`)
  return stdout
}

const rooms = [
  '.',
  'src',
  'runtime',
  'deploy/workers',
  'test',
  'test/build/nest',
  'test/edge/probe',
  'test/edge/hooks',
  'examples/orders',
  'bench',
  'bench/accounts/workers',
  'bench/requests/workers',
]

const checks: Check[] = [
  { name: 'the example builds', run: () => void run('bin/stack.cjs', ['build', '--project', 'examples/orders']) },
  ...rooms.map((room) => ({
    name: `types of ${room}`,
    run: () => void run(bin('typescript/bin/tsc'), ['-p', path.join(root, room)]),
  })),
  { name: 'lint and format', run: () => void run(bin('@biomejs/biome/bin/biome'), ['ci', '--error-on-warnings', '.']) },
  { name: 'the generated documentation', run: () => void run('tools/docs.ts', ['--check']) },
  { name: 'the generated operations of the auth module', run: () => void run('tools/operations.ts', ['--check']) },
  { name: 'functions that fit a screen', run: () => refuseAny(longFunctions(root)) },
  { name: 'plain words in comments', run: plainWords },
  { name: 'lists of mutants', run: () => refuseAny(faultsOfLists(root)) },
  { name: 'dead code', run: () => void run(bin('knip/bin/knip.js'), []) },
  { name: 'a packed install makes, builds, tests and serves a project', run: packedInstall },
]

/** @throws Error with one line for each finding. */
function refuseAny(findings: readonly string[]): void {
  if (findings.length > 0) throw new Error(findings.join('\n'))
}

/** Largest share of comments that may break a rule: a quotation or a term of the field does now and then. */
const toleratedShare = 0.03

function plainWords(): void {
  const { faults, faulty, comments } = checkWords(root)
  if (faulty > comments * toleratedShare) throw new Error(`${faults.join('\n')}\n${faulty} of ${comments} comments`)
}

/**
 * A project that `init` made, with nothing but the packed package and what npm brings, on the Node of the caller: the scripts of the
 * project build it, check its types, and test it on a stack. The example builds in the same way.
 */
function packedInstall(): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-packed-'))
  try {
    npm(['pack', pack(), '--pack-destination', folder], root)
    const tarball = path.join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.tgz'))!)
    run(bin('publint/src/cli.js'), [tarball, '--strict', '--level', 'suggestion'])
    run(bin('@arethetypeswrong/cli/dist/index.js'), [tarball, '--profile', 'esm-only'])
    const shop = installed(tarball, folder)
    for (const script of ['check', 'test']) npm(['run', script], shop, callersEnvironment())
    buildsExample(shop)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The environment of a person who calls npm: the launcher has put the newer Node first in that of this check. */
function callersEnvironment(): NodeJS.ProcessEnv {
  const others = (env['PATH'] ?? '').split(path.delimiter).filter((one) => one !== path.dirname(process.execPath))
  const hasOther = others.some((one) => fs.existsSync(path.join(one, 'node')))
  return { ...env, ...(hasOther ? { PATH: others.join(path.delimiter) } : {}), npm_config_prefer_offline: 'true' }
}

/**
 * Makes a project with the command of `dist`, installs it with the tarball in place of `dist`, and makes it again with the installed
 * command: both must be the same. So npm installs once, which takes most of the time.
 *
 * @returns the folder of the project.
 */
function installed(tarball: string, folder: string): string {
  const shop = path.join(folder, 'first/shop')
  fs.mkdirSync(path.dirname(shop))
  asCaller(path.join(root, 'dist/bin/stack.cjs'), ['init', 'shop', '--yes', '--no-install'], path.dirname(shop))
  const manifest = path.join(shop, 'package.json')
  const text = fs.readFileSync(manifest, 'utf8').replace(/"file:[^"]*"/, JSON.stringify(`file:${tarball}`))
  fs.writeFileSync(manifest, text)
  npm(['install', '--no-audit', '--no-fund'], shop, callersEnvironment())
  const stack = path.join(shop, 'node_modules/@stack/backend/bin/stack.cjs')
  for (const args of [['--version'], ['--help'], ['init', 'shop', '--yes', '--no-install']])
    asCaller(stack, args, folder)
  const again = fs.readFileSync(path.join(folder, 'shop/package.json'), 'utf8')
  if (again !== text) throw new Error(`the installed command makes another package.json: ${again}`)
  const major = Number(asCaller('-p', ['parseFloat(process.versions.node)'], folder))
  if (major < 22 !== text.includes('optionalDependencies')) throw new Error(`under Node ${major}: ${text}`)
  return shop
}

/** Runs a script on the Node of the caller, which may be too old for a stack. */
function asCaller(script: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('node', [script, ...args], {
    cwd,
    env: callersEnvironment(),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`stack ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return stdout
}

function buildsExample(shop: string): void {
  const folder = path.join(shop, 'orders')
  fs.cpSync(path.join(root, 'examples/orders'), folder, {
    recursive: true,
    filter: (name) => !/\.stack|tsconfig\.json/.test(name),
  })
  const config = JSON.parse(fs.readFileSync(path.join(root, 'examples/orders/tsconfig.json'), 'utf8'))
  config.include = ['src', '.stack/roles.d.ts']
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  run(path.join(shop, 'node_modules/@stack/backend/bin/stack.cjs'), ['build', '--project', folder], folder)
  run(bin('typescript/bin/tsc'), ['-p', folder])
}

function npm(args: string[], cwd: string, environment: NodeJS.ProcessEnv = env): void {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd,
    env: environment,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ${args[0]}: ${stdout}${stderr}`)
}

let failed = 0
for (const { name, run: check } of checks) {
  const began = performance.now()
  try {
    await check()
    console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`)
  } catch (error) {
    failed++
    console.log(`FAIL  ${name}\n${(error as Error).message}\n`)
  }
}
console.log(failed === 0 ? 'every check passes' : `${failed} of ${checks.length} checks fail`)
process.exit(failed === 0 ? 0 : 1)
