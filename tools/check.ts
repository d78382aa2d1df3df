/** Every check that is no test: types per room, lint and format, dead code, and the package in an empty folder. */
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
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
  { name: 'dead code', run: () => void run(bin('knip/bin/knip.js'), []) },
  { name: 'a packed install builds and serves a project', run: packedInstall },
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

/** In an empty folder with nothing but the package: the types, the build, and a stack that answers. */
async function packedInstall(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-packed-'))
  try {
    npm(['pack', pack(), '--pack-destination', folder], root)
    const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'))!
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`], folder)
    fs.cpSync(path.join(root, 'examples/orders'), folder, {
      recursive: true,
      filter: (name) => !/\.stack|tsconfig\.json/.test(name),
    })
    const config = JSON.parse(fs.readFileSync(path.join(root, 'examples/orders/tsconfig.json'), 'utf8'))
    config.include = ['src', '.stack/roles.d.ts']
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
    const stack = path.join(folder, 'node_modules/@stack/backend/bin/stack.cjs')
    run(stack, ['build'], folder)
    run(bin('typescript/bin/tsc'), ['-p', folder])
    await servesAndEnds(stack, folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** @throws Error unless the stack answers a request, and ends with exit 0. */
async function servesAndEnds(stack: string, folder: string): Promise<void> {
  const child = spawn(process.execPath, [stack, 'start', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const ready = new Promise<{ base_url: string }>((resolve) => {
    child.stdout.once('data', (chunk) => resolve(JSON.parse(String(chunk).split('\n')[0]!)))
  })
  const first = await Promise.race([ready, ended])
  if (first === null || typeof first === 'number') throw new Error(output)
  const { status } = await fetch(`${first.base_url}/catalogue`)
  child.kill('SIGINT')
  const code = await ended
  if (status !== 200 || code !== 0)
    throw new Error(`/catalogue answered ${status}, the stack ended with ${code}\n${output}`)
}

function npm(args: string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd,
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
