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
 * In an empty folder with nothing but the package, on the oldest Node that there is here: `init` makes a project, whose own scripts build
 * it, check its types, and test it on a stack. The example builds beside it.
 */
function packedInstall(): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-packed-'))
  try {
    npm(['pack', pack(), '--pack-destination', folder], root)
    const tarball = path.join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.tgz'))!)
    run(bin('publint/src/cli.js'), [tarball, '--strict', '--level', 'suggestion'])
    run(bin('@arethetypeswrong/cli/dist/index.js'), [tarball, '--profile', 'esm-only'])
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    npm(['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], folder)
    const stack = path.join(folder, 'node_modules/@stack/backend/bin/stack.cjs')
    const shop = initialised(stack, folder)
    for (const script of ['check', 'test']) npm(['run', script], shop, callersEnvironment())
    buildsExample(stack, folder)
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

/** Makes a project on the Node that the caller has, which may be too old for a stack. @returns its folder. */
function initialised(stack: string, folder: string): string {
  const caller = callersEnvironment()
  for (const args of [['--version'], ['--help'], ['init', 'shop', '--yes']]) {
    const { status, stdout, stderr } = spawnSync('node', [stack, ...args], {
      cwd: folder,
      env: caller,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`stack ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  }
  const shop = path.join(folder, 'shop')
  const { stdout } = spawnSync('node', ['-p', 'parseFloat(process.versions.node)'], { env: caller, encoding: 'utf8' })
  const { optionalDependencies } = JSON.parse(fs.readFileSync(path.join(shop, 'package.json'), 'utf8'))
  if (Number(stdout) < 22 !== (optionalDependencies !== undefined))
    throw new Error(`under Node ${stdout.trim()} the project has ${JSON.stringify(optionalDependencies)}`)
  return shop
}

function buildsExample(stack: string, folder: string): void {
  fs.cpSync(path.join(root, 'examples/orders'), folder, {
    recursive: true,
    filter: (name) => !/\.stack|tsconfig\.json/.test(name),
  })
  const config = JSON.parse(fs.readFileSync(path.join(root, 'examples/orders/tsconfig.json'), 'utf8'))
  config.include = ['src', '.stack/roles.d.ts']
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  run(stack, ['build', '--project', folder], folder)
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
