/** Measures the build beside its peers: a plain ts-morph scan, esbuild with decorators, other routers, a bare worker, and hono's client. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import esbuild from 'esbuild'
import { Compiler } from '../../build/compiler.ts'
import { matcherSource } from '../../build/emit/matcher.ts'
import { build } from '../../build/index.ts'
import { projectTarget } from '../../build/targets.ts'
import { pack } from '../../tools/pack.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median } from '../statistics.ts'
import { bareWorker, spawnToFirstAnswer } from '../workerd.ts'
import { checkTime } from './client-types.ts'
import { generateProject, roles, writeProject } from './generate.ts'
import { lookups, peers, routes200 } from './routes-200.ts'

const settings = { project: 'bench', entry: 'src/app.module.ts', budgetKib: 100_000 }
const packageRoot = path.resolve(import.meta.dirname, '../..')

export async function benchBuild(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  try {
    await benchCompile(folder)
    await benchWatch(folder)
    await benchServed(folder)
    await benchBundle(folder)
    await benchRouters()
    await benchStart(folder)
    await benchClient(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function project(folder: string, classes: number): string {
  const root = path.join(folder, `classes-${classes}`)
  if (!fs.existsSync(root)) writeProject(generateProject(classes), root)
  return root
}

/** Measures whole processes, from their start to their end. */
async function benchCompile(folder: string): Promise<void> {
  const dist = pack()
  const child = (variant: string, root: string): { milliseconds: number; mebibytes: number } => {
    const script = path.join(import.meta.dirname, 'child.ts')
    const { stdout, stderr, status } = spawnSync(process.execPath, [script, variant, root, dist], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  console.log('\nread, check and emit: a process each, medians of interleaved runs')
  const costs = new Map<number, number>()
  for (const [classes, rounds] of [
    [10, 9],
    [100, 9],
    [1000, 9],
    [3000, 5],
  ] as const) {
    const root = project(folder, classes)
    child('build', root)
    const memory: number[] = []
    const measure = (variant: string) => () => {
      const { milliseconds, mebibytes } = child(variant, root)
      if (variant === 'compile') memory.push(mebibytes)
      return milliseconds
    }
    child('compile', root)
    const variants = { compile: measure('compile'), unchanged: measure('build'), peer: measure('ts-morph') }
    const values = await interleave(rounds, variants)
    const [own, unchanged, peer] = ['compile', 'unchanged', 'peer'].map((name) => median(values[name]!)) as [
      number,
      number,
      number,
    ]
    costs.set(classes, own)
    printRow(`${classes} classes: a plain ts-morph scan`, ms(peer))
    printRow(
      `${classes} classes: read, checked, table and entry emitted`,
      ms(own),
      own / peer,
      classes === 1000 ? '≤ 0.75' : undefined,
    )
    printRow(
      `${classes} classes: nothing changed`,
      ms(unchanged),
      unchanged / peer,
      classes === 1000 ? '≤ 0.10' : undefined,
    )
    if (classes === 3000) {
      fs.rmSync(path.join(root, '.stack'), { recursive: true })
      const { mebibytes } = child('build', root)
      printRow(
        '3000 classes: most memory, compiled / built',
        `${Math.round(Math.max(...memory))} / ${Math.round(mebibytes)} MiB`,
        undefined,
      )
    }
  }
  const perClass = (from: number, to: number) => (costs.get(to)! - costs.get(from)!) / (to - from)
  printRow(
    'cost of a class, 1000 to 3000 against 100 to 1000',
    '',
    perClass(1000, 3000) / perClass(100, 1000),
    'linear: about 1',
  )
}

/** Measures edits in one process that keeps its compiler: from an edit to all refusals and the table. */
async function benchWatch(folder: string): Promise<void> {
  console.log('\none edit, in a watch over 1000 classes: to all refusals and the table')
  const root = project(folder, 1000)
  const target = projectTarget(root, settings, roles)
  const compiler = new Compiler(target)
  compiler.check()
  const sources = fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
  const files = sources.map((name) => path.join(root, 'src', name)).sort()
  const controllers = files.filter((file) => fs.readFileSync(file, 'utf8').includes('@Controller('))
  const constants = files.filter((file) => fs.readFileSync(file, 'utf8').includes('export const Perm'))
  const kinds: Record<string, (round: number) => string[]> = {
    'an edit of a handler': (round) => edit(controllers[round * 7]!, (text) => `${text}\n// ${round}\n`),
    'an edit of an imported constant': (round) =>
      edit(constants[round]!, (text) => text.replace(/'([a-z-]+)\.read'/, "'$1.look'")),
    'a file that comes': (round) =>
      edit(path.join(root, `src/extra-${round}.ts`), () => `export const extra = ${round}\n`),
    'a file that is renamed': (round) => {
      const [from, to] = [path.join(root, `src/extra-${round}.ts`), path.join(root, `src/moved-${round}.ts`)]
      fs.renameSync(from, to)
      return [from, to]
    },
    'a file that goes': (round) => {
      const file = path.join(root, `src/moved-${round}.ts`)
      fs.rmSync(file)
      return [file]
    },
  }
  const all: number[] = []
  for (const [what, change] of Object.entries(kinds)) {
    const values: number[] = []
    for (let round = 0; round < 7; round++) {
      const touched = new Set(change(round))
      const began = performance.now()
      const { refusals, linked } = compiler.check(touched)
      const table = JSON.stringify(linked?.table)
      values.push(performance.now() - began)
      const clean = new Compiler(target)
      const expected = clean.check()
      const isSame =
        table === JSON.stringify(expected.linked?.table) &&
        JSON.stringify(refusals) === JSON.stringify(expected.refusals)
      await clean.close()
      if (!isSame) throw new Error(`${what}: not what a clean build gives`)
    }
    all.push(...values)
    printRow(what, ms(median(values)))
  }
  printRow('all of them, each byte for byte a clean build', ms(median(all)), median(all) / 40, '≤ 1 × 40 ms')
  await compiler.close()
}

/** From an edit to the worker that can be served, and to the documents that follow it. */
async function benchServed(folder: string): Promise<void> {
  console.log('\nan edit of a handler, in a watch over 1000 classes: to the files, medians of 9 edits')
  const root = project(folder, 1000)
  const compiler = new Compiler(projectTarget(root, settings, roles))
  const controllers = [...generateProject(1000).keys()].filter((name) => name.endsWith('.controller.ts'))
  const served: number[] = []
  const documented: number[] = []
  // The first edits are slower, because V8 has not optimized the code yet.
  const warmUp = 3
  for (let round = -warmUp; round < 9; round++) {
    const touched = edit(path.join(root, controllers.at(round * 7)!), (text) => `${text}\n// served ${round}\n`)
    const began = performance.now()
    const { refusals, linked } = compiler.check(round === -warmUp ? undefined : new Set(touched))
    const { writeDocuments } = await compiler.emitWorker({ refusals, linked: linked! })
    const workerAt = performance.now()
    await writeDocuments!({})
    if (round < 0) continue
    served.push(workerAt - began)
    documented.push(performance.now() - began)
  }
  printRow('to the worker', ms(median(served)))
  printRow('to client.d.ts and openapi.json', ms(median(documented)), median(documented) / median(served))
  await compiler.close()
}

function edit(file: string, change: (text: string) => string): string[] {
  fs.writeFileSync(file, change(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''))
  return [file]
}

/** Bundles the same entry with decorators and with decorators erased. */
async function benchBundle(folder: string): Promise<void> {
  console.log('\nthe bundle of 1000 classes, minified')
  const root = project(folder, 1000)
  const compiler = new Compiler(projectTarget(root, settings, roles))
  const { linked } = compiler.check()
  const { projectSources } = await import('../../build/emit/bundle.ts')
  const { Program } = await import('../../build/program.ts')
  const program = new Program(root, settings.entry)
  const imports = linked!.classes.map(
    ({ file, name }, index) => `import { ${name} as c${index} } from ${JSON.stringify(path.join(root, file))}`,
  )
  const contents = [...imports, `export default [${linked!.classes.map((_, index) => `c${index}`).join(', ')}]`].join(
    '\n',
  )
  const bundle = async (plugins: esbuild.Plugin[]) => {
    const began = performance.now()
    const { outputFiles } = await esbuild.build({
      stdin: { contents, resolveDir: root, loader: 'js' },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2024',
      external: ['@stack/backend', 'node:*'],
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      plugins,
    })
    return { bytes: outputFiles[0]!.contents.length, milliseconds: performance.now() - began }
  }
  const external: esbuild.Plugin = {
    name: 'sdk',
    setup: (one) => one.onResolve({ filter: /^@stack\/backend$/ }, () => ({ path: '@stack/backend', external: true })),
  }
  for (const file of program.sources.listed) program.sources.read(file)
  const sdk = path.join(packageRoot, 'src/sdk/index.ts')
  const erasing = projectSources(program, sdk, () => [], new Map())
  const values = { decorated: await bundle([external]), erased: await bundle([external, erasing]) }
  printRow('with its decorators', `${Math.round(values.decorated.bytes / 1024)} KiB`)
  printRow(
    'with its decorators erased',
    `${Math.round(values.erased.bytes / 1024)} KiB`,
    values.erased.bytes / values.decorated.bytes,
    '≤ 0.6',
  )
  await compiler.close()
}

async function benchRouters(): Promise<void> {
  console.log('\nlookups in a table of 200 routes, medians of 15 interleaved rounds')
  const source = matcherSource(routes200.map((route) => ({ ...route, prefix: `/${route.path.split('/')[1]}` })))
  const own = new Function(`${source}\nreturn match`)() as (method: string, path: string) => unknown
  const routers = Object.values(peers).map(({ name, create }) => ({ name, find: create(routes200) }))
  const measure = (find: (method: string, path: string) => unknown) => () => {
    const asked = lookups(100_000)
    const began = performance.now()
    for (const { method, path } of asked) find(method, path)
    return asked.length / (performance.now() - began) / 1000
  }
  const variants = Object.fromEntries([
    ['emitted', measure(own)],
    ...routers.map(({ name, find }) => [name, measure(find)] as const),
  ])
  await interleave(3, variants)
  const values = await interleave(15, variants)
  const emitted = median(values['emitted']!)
  const targets: Record<string, string> = { 'hono SmartRouter': '≥ 4', memoirist: '≥ 1.1' }
  printRow('emitted', `${emitted.toFixed(2)} M/s`)
  for (const { name } of routers) {
    const rate = median(values[name]!)
    printRow(name, `${rate.toFixed(2)} M/s`, emitted / rate, targets[name])
  }
}

async function benchStart(folder: string): Promise<void> {
  console.log('\nfrom the start of workerd to the first answer, medians of fifteen spawns, interleaved')
  const root = path.join(folder, 'routes-200')
  const resources = [...new Set(routes200.map(({ path: route }) => route.split('/')[1]!))]
  const methods: Record<string, string> = { GET: 'Get', POST: 'Post', PUT: 'Put', DELETE: 'Delete' }
  const controllers = resources.map((resource, index) => {
    const own = routes200.filter(({ path: route }) => route.split('/')[1] === resource)
    const handlers = own.map(
      ({ method, path: route }, number) =>
        `  @${methods[method]}('${route.slice(resource.length + 2)}') h${number}(@Req() request: Request) { return { at: request.url } }`,
    )
    return `@Controller('/${resource}', { auth: false })\nexport class C${index} {\n${handlers.join('\n')}\n}\n`
  })
  const source = `import { Controller, Delete, Get, Module, Post, Put, Req } from '@stack/backend'
${controllers.join('')}
@Module({ controllers: [${resources.map((_, index) => `C${index}`).join(', ')}] })
export class AppModule {}
`
  writeProject(new Map([['src/app.module.ts', source]]), root)
  const { built } = await build(projectTarget(root, settings, roles))
  if (built?.table.routes.length !== 200) throw new Error('200 routes were expected')
  const worker = fs.readFileSync(path.join(root, '.stack/out/worker.js'))
  const address = `/${resources[0]}`
  const values = await interleave(15, {
    bare: () => spawnToFirstAnswer([{ name: 'worker.js', contents: bareWorker }], {}, address),
    routes: () => spawnToFirstAnswer([{ name: 'worker.js', contents: worker }], {}, address),
  })
  const [bare, routes] = [median(values['bare']!), median(values['routes']!)]
  printRow('a bare handler', ms(bare))
  printRow('200 routes, with all of the runtime', ms(routes), routes / bare)
  printRow('the difference', `${(routes - bare).toFixed(1)} ms`, (routes - bare) / 2.5, '≤ 1 × 2.5 ms')
}

/** Measures the cost of typed clients for a type check: a whole `tsc` process over 1000 routes and five calls. */
async function benchClient(folder: string): Promise<void> {
  console.log('\ntsc over a client of 1000 routes and five calls')
  const hc = checkTime('hc', 1000)
  const source = await flatClient(folder)
  const flat = checkTime('flat', 1000, () => source)
  printRow("hono's inferred client", ms(hc))
  printRow('client.d.ts', ms(flat), flat / hc)
}

async function flatClient(folder: string): Promise<Record<string, string>> {
  const root = project(folder, 333) // 200 of them are controllers with five routes each.
  const { built } = await build(projectTarget(root, settings, roles))
  const routes = built?.table.routes ?? []
  if (routes.length < 1000) throw new Error('a thousand routes were expected')
  const calls = routes.filter(({ method, path: route }) => method === 'GET' && !route.includes(':')).slice(0, 5)
  const client = [
    `import { createClient } from './out/client.js'`,
    `const client = createClient('http://127.0.0.1')`,
    ...calls.map(({ path: route }, index) => `export const answer${index} = await client['GET ${route}']()`),
    '',
  ].join('\n')
  return { 'out/client.d.ts': fs.readFileSync(path.join(root, '.stack/client.d.ts'), 'utf8'), 'client.ts': client }
}
