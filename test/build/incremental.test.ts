/** A build after a change has the result of a clean build, byte for byte (contract 8.6). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildCached } from '../../build/cached.ts'
import { Compiler } from '../../build/compiler.ts'
import { FollowUp } from '../../build/follow-up.ts'
import { runSteps, type StepOptions } from '../../build/steps.ts'
import { type Outcome, watchProject } from '../../build/watch.ts'
import { rendered, targetOf, temporaryProject } from '../support/project.ts'

const files = {
  'src/app.module.ts': `import { Module } from '@stack/backend'
import { OrdersModule } from './orders/orders.module'
@Module({ imports: [OrdersModule] })
export class AppModule {}
`,
  'src/orders/orders.module.ts': `import { Module } from '@stack/backend'
import { OrdersController } from './orders.controller'
import { Orders } from './orders'
@Module({ controllers: [OrdersController], providers: [Orders] })
export class OrdersModule {}
`,
  'src/orders/orders.controller.ts': `import { Controller, Get, Param } from '@stack/backend'
import { rules } from '../rules'
import { Orders } from './orders'
@Controller('/orders', { auth: rules.orders })
export class OrdersController {
  constructor(private readonly orders: Orders) {}
  @Get() list() { return this.orders.all() }
  @Get(':id') show(@Param('id') id: string) { return id }
}
`,
  'src/orders/orders.ts': `import { Injectable } from '@stack/backend'
@Injectable()
export class Orders { all() { return [] } }
`,
  'src/rules.ts': `export { rules } from './rules.data'\n`,
  'src/rules.data.ts': `export const rules = { orders: { role: 'staff' } } as const\n`,
}

type Edit = [what: string, change: (root: string) => void]

const write = (name: string, text: string) => (root: string) => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
  fs.writeFileSync(path.join(root, name), text)
}
const replace = (name: string, from: string | RegExp, to: string) => (root: string) => {
  const file = path.join(root, name)
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, to))
}
const both =
  (...changes: ((root: string) => void)[]) =>
  (root: string) => {
    for (const change of changes) change(root)
  }
const move = (from: string, to: string) => (root: string) => fs.renameSync(path.join(root, from), path.join(root, to))

/** Changes that follow each other in one project. */
const edits: Edit[] = [
  ['an edit of a file', replace('src/orders/orders.controller.ts', "Get(':id')", "Get('by/:id')")],
  ['an edit of an imported constant', replace('src/rules.data.ts', "'staff'", "'guests'")],
  ['a constant that is no longer one', replace('src/rules.data.ts', 'const rules', 'let rules')],
  ['and is one again', replace('src/rules.data.ts', 'let rules', 'const rules')],
  [
    'a re-export that leads elsewhere',
    both(
      write('src/other.ts', 'export const rules = { orders: false }\n'),
      replace('src/rules.ts', './rules.data', './other'),
    ),
  ],
  [
    'a file that comes, and is not listed',
    write('src/loose.ts', `import { Injectable } from '@stack/backend'\n@Injectable() export class Loose {}\n`),
  ],
  ['and goes', (root) => fs.rmSync(path.join(root, 'src/loose.ts'))],
  ['a file that does not parse', replace('src/orders/orders.ts', '{ all()', '{ all(')],
  ['and does again', replace('src/orders/orders.ts', '{ all(', '{ all()')],
  ['a file that moves', move('src/orders/orders.ts', 'src/orders/store.ts')],
  [
    'and what imports it follows',
    both(
      replace('src/orders/orders.module.ts', "'./orders'", "'./store'"),
      replace('src/orders/orders.controller.ts', "'./orders'", "'./store'"),
    ),
  ],
  [
    'a file outside of the entry’s folder',
    both(
      write(
        'lib/extra.ts',
        `import { Controller, Get } from '@stack/backend'\n@Controller('/extra') export class Extra { @Get() list() { return 1 } }\n`,
      ),
      replace('src/orders/orders.module.ts', /controllers: \[/, 'controllers: [Extra, '),
      replace('src/orders/orders.module.ts', '', `import { Extra } from '../../lib/extra'\n`),
    ),
  ],
  ['an edit there', replace('lib/extra.ts', "'/extra'", "'/orders'")],
  [
    'which nobody imports any longer',
    both(
      replace('src/orders/orders.module.ts', 'Extra, ', ''),
      replace('src/orders/orders.module.ts', /import \{ Extra \}.*\n/, ''),
    ),
  ],
  [
    'a decorator that is renamed on import',
    replace('src/orders/orders.controller.ts', /\{ Controller, Get, Param \}/, '{ Controller, Get as Fetch, Param }'),
  ],
  [
    'a base class',
    both(
      write(
        'src/orders/base.ts',
        `import { Orders } from './store'\nexport class Base { constructor(readonly orders: Orders) {} }\n`,
      ),
      replace(
        'src/orders/orders.controller.ts',
        /class OrdersController \{\n.*\n/,
        'class OrdersController extends Base {\n',
      ),
      replace('src/orders/orders.controller.ts', '', `import { Base } from './base'\n`),
    ),
  ],
  ['whose constructor takes something else', replace('src/orders/base.ts', 'orders: Orders', 'orders: Date')],
  [
    'tsconfig.json that comes',
    write(
      'tsconfig.json',
      '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "#x": ["./src/other.ts"] } } }',
    ),
  ],
  ['a path of it that is used', replace('src/rules.ts', './other', '#x')],
  [
    'and leads elsewhere',
    write(
      'tsconfig.json',
      '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "#x": ["./src/rules.data.ts"] } } }',
    ),
  ],
]

describe('Compiler', () => {
  it('gives after every change the refusals and the table of a clean build', async () => {
    const root = temporaryProject(files)
    const target = targetOf(root, ['staff'])
    const kept = new Compiler(target)
    kept.check()
    for (const [what, change] of edits) {
      const before = snapshot(root)
      change(root)
      const touched = changedSince(before, snapshot(root)).map((name) => path.join(root, name))
      const clean = new Compiler(target)
      expect([what, said(root, kept, new Set(touched))]).toEqual([what, said(root, clean)])
      await clean.close()
    }
    await kept.close()
  })

  function said(root: string, compiler: Compiler, touched?: ReadonlySet<string>): unknown {
    const { refusals, linked } = compiler.check(touched)
    return { text: rendered(root, { refusals, built: undefined }), table: JSON.stringify(linked?.table) }
  }

  function snapshot(root: string): Map<string, string> {
    const names = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return new Map(
      names.map((entry) => {
        const file = path.join(entry.parentPath, entry.name)
        return [path.relative(root, file), fs.readFileSync(file, 'utf8')]
      }),
    )
  }

  function changedSince(before: Map<string, string>, after: Map<string, string>): string[] {
    return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))
  }
})

describe('watchProject', () => {
  it('tells of every change in turn: built, refused, built again, and a declared file that cannot be read', async () => {
    const root = temporaryProject(files)
    const outcomes: [Outcome, readonly string[]][] = []
    let next = Promise.withResolvers<Outcome>()
    let isReadable = true
    const watch = await watchProject({
      root,
      target() {
        if (!isReadable) throw new Error('stack/project.json is not valid JSON')
        return targetOf(root, ['staff'])
      },
      onOutcome(outcome, changed) {
        outcomes.push([outcome, changed])
        next.resolve(outcome)
      },
    })
    onTestFinished(watch.close)
    const after = (change: (root: string) => void) => {
      next = Promise.withResolvers()
      change(root)
      return next.promise
    }
    expect(outcomes.map(([{ kind }, changed]) => [kind, changed])).toEqual([['built', []]])
    expect(await after(replace('src/orders/orders.controller.ts', "'/orders'", "'/auth/x'"))).toMatchObject({
      kind: 'refused',
      refusals: [{ slug: 'path-reserved' }],
    })
    const built = await after(replace('src/orders/orders.controller.ts', "'/auth/x'", "'/wares'"))
    expect(built).toMatchObject({ kind: 'built', built: { table: { routes: [{ path: '/wares' }, {}] } } })
    const worker = fs.readFileSync(path.join(root, '.stack/out/worker.js'))
    const clean = new Compiler(targetOf(root, ['staff'], path.join(root, '.stack')))
    const { refusals, linked } = clean.check()
    await clean.emit({ refusals, linked: linked! })
    await clean.close()
    expect(fs.readFileSync(path.join(root, '.stack/out/worker.js'))).toEqual(worker)
    isReadable = false
    expect(await after(write('stack/project.json', '{'))).toMatchObject({
      kind: 'failed',
      error: { message: 'stack/project.json is not valid JSON' },
    })
  })
})

/** What follows the worker: these need the type checker. */
const documents = ['client.d.ts', 'client.js', 'openapi.json']

const contentsIn = (folder: string, names: readonly string[]) =>
  names.map((name) => {
    const file = path.join(folder, name)
    return [name, fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined]
  })

describe('documents of a watch', () => {
  const typed = {
    ...files,
    'src/orders/orders.ts': `import { Injectable } from '@stack/backend'
import type { Order } from './order'
@Injectable()
export class Orders { all(): Order[] { return [] } }
`,
    'src/orders/order.ts': 'export interface Order { id: string }\n',
  }

  it('8.6 follow the worker, and are those of a clean build, byte for byte', async () => {
    const root = temporaryProject(typed)
    const out = path.join(root, '.stack')
    const kept = new Compiler(targetOf(root, ['staff'], out))
    onTestFinished(() => kept.close())
    const typeEdits: [name: string, change: (root: string) => void][] = [
      ['src/app.module.ts', () => {}],
      ['src/orders/order.ts', write('src/orders/order.ts', 'export interface Order { id: string; total: number }\n')],
      ['src/orders/orders.controller.ts', replace('src/orders/orders.controller.ts', 'return id', 'return { id }')],
      ['src/orders/line.ts', write('src/orders/line.ts', 'export interface Line { count: number }\n')],
      [
        'src/orders/order.ts',
        write(
          'src/orders/order.ts',
          `import type { Line } from './line'\nexport interface Order { id: string; lines: Line[] }\n`,
        ),
      ],
      ['src/orders/line.d.ts', move('src/orders/line.ts', 'src/orders/line.d.ts')],
    ]
    for (const [name, change] of typeEdits) {
      const before = contentsIn(out, documents)
      change(root)
      const touched = new Set([name, name.replace('.d.ts', '.ts')].map((one) => path.join(root, one)))
      const { refusals, linked } = kept.check(touched)
      const { writeDocuments } = await kept.emitWorker({ refusals, linked: linked! })
      expect([name, contentsIn(out, documents)]).toEqual([name, before])
      await writeDocuments!({})
      const clean = path.join(root, 'clean')
      await buildCached(targetOf(root, ['staff'], clean))
      const all = [...documents, 'table.json', 'roles.d.ts', 'out/worker.js']
      expect([name, contentsIn(out, all)]).toEqual([name, contentsIn(clean, all)])
    }
    expect(fs.readFileSync(path.join(out, 'client.d.ts'), 'utf8')).toContain('count: number')
  })

  it('are of the texts that were checked, and stay as they were where their making is ended', async () => {
    const root = temporaryProject(typed)
    const out = path.join(root, '.stack')
    const kept = new Compiler(targetOf(root, ['staff'], out))
    onTestFinished(() => kept.close())
    const { refusals, linked } = kept.check()
    const { writeDocuments } = await kept.emitWorker({ refusals, linked: linked! })
    const order = path.join(root, 'src/orders/order.ts')
    fs.writeFileSync(order, 'export interface Order { later: boolean')
    expect(kept.check(new Set([order])).linked).toBeUndefined()
    expect(await writeDocuments!({ signal: AbortSignal.abort() })).toBeUndefined()
    expect(contentsIn(out, documents).flatMap(([, text]) => text ?? [])).toEqual([])
    await writeDocuments!({})
    expect(fs.readFileSync(path.join(out, 'client.d.ts'), 'utf8')).toContain('{ id: string }')
  })

  it('are told of behind the build, with their warnings', async () => {
    const root = temporaryProject(typed)
    const told: string[] = []
    const watch = await watchProject({
      root,
      target: () => targetOf(root, ['staff'], path.join(root, '.stack')),
      onOutcome: ({ kind }) => void told.push(kind),
      onDocuments: (outcome) =>
        void told.push(outcome.kind === 'documented' ? `${outcome.kind} ${outcome.refusals.length}` : outcome.kind),
    })
    onTestFinished(watch.close)
    await watch.documented()
    const next = told.length
    replace('src/orders/order.ts', 'id: string', 'id: bigint')(root)
    await vi.waitFor(() => expect(told.slice(next)).toContain('documented 1'), { timeout: 20_000 })
    expect(told.slice(0, next)).toEqual(['built', 'documented 0'])
    expect(told[next]).toBe('built')
  })
})

describe('FollowUp', () => {
  it('waits while a build is under way, goes on after it, and gives way to the work of a newer one', async () => {
    const follow = new FollowUp()
    const done: string[] = []
    const work = (name: string) => (options: StepOptions) =>
      runSteps(
        (function* () {
          yield
          done.push(name)
        })(),
        options,
      )
    const wait = () => new Promise((resolve) => setTimeout(resolve, 20))
    follow.pause()
    follow.replace(work('first'))
    await wait()
    expect(done).toEqual([])
    follow.resume()
    await follow.idle()
    expect(done).toEqual(['first'])
    follow.pause()
    follow.replace(work('second'))
    await wait()
    follow.replace(work('third'))
    follow.resume()
    await follow.idle()
    expect(done).toEqual(['first', 'third'])
  })
})

describe('watchProject, beside files that are no sources', () => {
  it('is neither started nor put off by a log that is written to all the time, and sees a migration', async () => {
    const root = temporaryProject({
      ...files,
      'src/orders/orders.ts': `import { Injectable } from '@stack/backend'
import numbers from './numbers.json'
@Injectable()
export class Orders { all() { return numbers } }
`,
      'src/orders/numbers.json': '[1]',
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true, "resolveJsonModule": true } }',
      'app.log': '',
      'state.json': '0\n',
    })
    const seen: [kind: Outcome['kind'], changed: string[]][] = []
    const others: string[] = []
    let next = Promise.withResolvers<void>()
    const named = (changed: readonly string[]) =>
      changed.map((file) => path.relative(root, file).split(path.sep).join('/'))
    const watch = await watchProject({
      root,
      target: () => targetOf(root, ['staff']),
      onOutcome({ kind }, changed) {
        seen.push([kind, named(changed)])
        next.resolve()
      },
      onStackFiles: (changed) => void others.push(...named(changed)),
    })
    onTestFinished(watch.close)
    let line = 0
    const writing = setInterval(() => {
      for (const name of ['app.log', 'src/app.log', '.stack/scratch.ts', 'state.json', 'notes.md']) {
        fs.appendFileSync(path.join(root, name), `${line++}\n`)
      }
    }, 5)
    onTestFinished(() => clearInterval(writing))
    const after = (change: (root: string) => void) => {
      next = Promise.withResolvers()
      change(root)
      return next.promise
    }
    await after(replace('src/orders/orders.controller.ts', "'/orders'", "'/wares'"))
    await after(write('src/orders/numbers.json', '[1, 2]'))
    const open = 'create table t (id int);\ngrant select on t to backend_authenticated;\n'
    await after(write('migrations/0001_t.sql', open))
    await after(write('migrations/0001_t.sql', `${open}alter table t enable row level security;\n`))
    await after(replace('src/orders/orders.ts', "'./numbers.json'", "'./figures.json'"))
    await after(write('src/orders/figures.json', '[3]'))
    await watch.close()
    // An edit may be reported twice, but a file that is no source never is.
    const told = seen
      .map(([, changed], index) => changed.filter((file) => !seen[index - 1]?.[1].includes(file)))
      .filter((changed, index) => index === 0 || changed.length > 0)
    expect(told).toEqual([
      [],
      ['src/orders/orders.controller.ts'],
      ['src/orders/numbers.json'],
      ['migrations/0001_t.sql'],
      ['src/orders/orders.ts'],
      ['src/orders/figures.json'],
    ])
    expect(seen.map(([kind]) => kind)).toContain('refused')
    expect(seen.at(-1)![0]).toBe('built')
    expect([...new Set(others)]).toEqual(['migrations/0001_t.sql'])
  })
})

describe('buildCached', () => {
  const isKept = async (root: string) => {
    const worker = path.join(root, '.stack/out/worker.js')
    const before = fs.statSync(worker).ino
    const result = await buildCached(targetOf(root, ['staff']))
    // A build writes a new file and renames it to its place.
    return { isSame: fs.existsSync(worker) && fs.statSync(worker).ino === before, result }
  }

  async function built(): Promise<string> {
    const root = temporaryProject(files)
    const past = new Date(Date.now() - 60_000)
    for (const name of Object.keys(files)) fs.utimesSync(path.join(root, name), past, past)
    await buildCached(targetOf(root, ['staff']))
    return root
  }

  it('does nothing where nothing changed, and says the same', async () => {
    const root = await built()
    const { isSame, result } = await isKept(root)
    expect(isSame).toBe(true)
    expect(result.built?.table.routes).toHaveLength(2)
    expect(result.built?.sizes.map(({ name }) => name)).toEqual(expect.arrayContaining(['driver.js', 'worker.js']))
  })

  it.each<Edit>([
    ['a source that changed', replace('src/rules.data.ts', 'staff', 'guests')],
    ['a source that changed and looks alike', replace('src/orders/orders.controller.ts', "'/orders'", "'/orderz'")],
    ['a source that came', write('src/more.ts', '')],
    ['tsconfig.json that came', write('tsconfig.json', '{ "compilerOptions": { "experimentalDecorators": true } }')],
    ['the bundle that somebody touched', write('.stack/out/worker.js', '')],
    ['the table that is gone', (root) => fs.rmSync(path.join(root, '.stack/table.json'))],
    ['a package that was installed', write('node_modules/.package-lock.json', '{}')],
  ])('builds again for %s', async (_what, change) => {
    const root = await built()
    change(root)
    expect((await isKept(root)).isSame).toBe(false)
  })

  it('builds again for other roles, and for a source that was written as it was being read', async () => {
    const root = await built()
    const { ino } = fs.statSync(path.join(root, '.stack/out/worker.js'))
    await buildCached(targetOf(root, ['staff', 'more']))
    expect(fs.statSync(path.join(root, '.stack/out/worker.js')).ino).not.toBe(ino)
    const fresh = temporaryProject(files)
    await buildCached(targetOf(fresh, ['staff']))
    expect(fs.existsSync(path.join(fresh, '.stack/build.json'))).toBe(false)
  })

  it('a refused project is refused again, and its last good build is not taken for it', async () => {
    const root = await built()
    replace('src/orders/orders.controller.ts', "'/orders'", "'/auth/x'")(root)
    for (let time = 0; time < 2; time++) {
      const { built: nothing, refusals } = await buildCached(targetOf(root, ['staff']))
      expect([nothing, refusals.map(({ slug }) => slug)]).toEqual([undefined, ['path-reserved']])
    }
  })
})
