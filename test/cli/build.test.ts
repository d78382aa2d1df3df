/** `stack build` and the command line around it: streams, exit codes, sentences (contract 8, 10). */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot, stack, startProcess } from '../support/command.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { seed, seedable } from '../support/seed.ts'
import { titled } from '../support/titles.ts'

/** `script` of util-linux gives a command a terminal of its own. */
const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!hasTerminal) process.stderr.write('refusals on a terminal are skipped: there is no script of util-linux\n')

const app = `import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders', { auth: { role: 'staff' } })
export class OrdersController {
  @Get() list(): string[] { return [] }
  @Get('open', { auth: false }) open(): string[] { return [] }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
`
const project = (files: Record<string, string> = {}) =>
  temporaryProject({
    'stack/project.json': '{ "project": "shop" }',
    'stack/roles.json': '{ "roles": [{ "name": "staff", "permissions": [] }] }',
    'src/app.module.ts': app,
    ...files,
  })

describe('stack build', () => {
  it('8.3 prints the routes with the gate in force and who decided it; stdout stays empty', async () => {
    const { code, stdout, stderr } = await stack(['build', '--project', project()])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(
      /^routes\n {2}GET {2}\/orders {7}role staff {2}by the controller\n {2}GET {2}\/orders\/open {2}public {6}by the route\n/,
    )
    expect(stderr).toMatch(/built 2 routes and 0 webhooks in \d+ ms: .*worker\.js [\d.]+ KiB \(gzip [\d.]+ KiB\)/)
  })

  it('5.4 says what a wrangler.toml does not bind of what the project uses, and nothing where all is there', async () => {
    const said = async (wrangler: string) =>
      (await stack(['build', '--project', project({ 'wrangler.toml': wrangler })])).stderr.split('\n').slice(-2)[0]
    expect(await said('# name = "STACK_POOL"\nname = "shop"\n')).toBe(
      '! wrangler.toml does not bind STACK_POOL: what it needs is in .stack/bindings.toml',
    )
    expect(await said("[[durable_objects.bindings]]\nname = 'STACK_POOL'\n")).toMatch(/^built /)
  })

  it('1.7 finds the project upwards from where the person stands, also under npm', async () => {
    const root = project({ 'src/deep/x.txt': '' })
    expect((await stack(['build'], { cwd: path.join(root, 'src/deep') })).code).toBe(0)
    expect((await stack(['build'], { env: { INIT_CWD: path.join(root, 'src') } })).code).toBe(0)
  })

  it('1.8 builds a project in an empty folder that has nothing installed, and resolves the SDK to itself', async () => {
    const root = project()
    const out = temporaryFolder()
    expect((await stack(['build', '--project', root, '--out', out])).code).toBe(0)
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(false)
    expect(fs.readdirSync(out).sort()).toEqual([
      'auth',
      'bindings.toml',
      'build.json',
      'client.d.ts',
      'client.js',
      'openapi.json',
      'out',
      'roles.d.ts',
      'table.json',
    ])
  })

  it('refuses with exit 1, and writes nothing', async () => {
    const root = project({ 'src/app.module.ts': app.replace("'/orders'", "'/auth/x'") })
    const { code, stdout, stderr } = await stack(['build', '--project', root])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`error[path-reserved]: the path "/auth/x" lies under /auth, where the auth worker
  answers
  --> src/app.module.ts:3:13
  3 | @Controller('/auth/x', { auth: { role: 'staff' } })
    |             ^^^^^^^^^
  fix: choose another first segment, for example "/api/auth/x"

1 error: nothing was written
stack explain path-reserved says why
`)
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(false)
  })

  it('8.1 a project with many mistakes gets them all in one run, exit 1', async () => {
    const slugs = seedable.filter((slug) => slug !== 'syntax-error') // A syntax error suppresses the refusals that depend on lists.
    const root = project(seed(slugs))
    const { code, stderr } = await stack(['build', '--project', root])
    expect(code).toBe(1)
    expect(slugs.filter((slug) => !stderr.includes(`[${slug}]`))).toEqual([])
    expect(stderr).toMatch(
      /\n\d+ errors(?:, \d+ warnings?)?: nothing was written\n\d+ can be fixed: stack build --fix --project .*\nstack explain [\w-]+ says why\n$/,
    )
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(false)
  })

  it('8.2 --format json prints one object a line', async () => {
    const root = project({
      'src/app.module.ts': app.replaceAll("'staff'", "'stuff'").replace("'/orders'", "'/webhooks'"),
    })
    const { code, stdout } = await stack(['build', '--project', root, '--format', 'json'])
    expect(code).toBe(1)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ slug, severity }) => [slug, severity])).toEqual([
      ['path-reserved', 'error'],
      ['role-unknown', 'warning'],
    ])
    expect(lines[0]).toEqual({
      slug: 'path-reserved',
      severity: 'error',
      message: 'the path "/webhooks" lies under /webhooks, where the webhook receiver answers',
      file: 'src/app.module.ts',
      line: 3,
      column: 13,
      end_line: 3,
      end_column: 24,
      fix: 'choose another first segment, for example "/api/webhooks"',
      related: [],
    })
  })

  it('10.1 --json is --format json', async () => {
    const root = project({ 'src/app.module.ts': app.replace("'/orders'", "'/webhooks'") })
    const [short, long] = [['--json'], ['--format', 'json']].map((flags) =>
      stack(['build', '--project', root, ...flags]),
    )
    expect(await short).toEqual(await long)
    expect(JSON.parse((await short!).stdout)).toMatchObject({ slug: 'path-reserved' })
  })

  it('a warning does not refuse', async () => {
    const { code, stderr } = await stack(['build', '--project', project({ 'stack/roles.json': '{ "roles": [] }' })])
    expect(code).toBe(0)
    expect(stderr).toContain('warning[role-unknown]: stack/roles.json declares no role "staff"')
  })

  it('8.2 the command that fixes names the project as it was named, and none where the person stands in it', async () => {
    const root = project({ 'src/app.module.ts': app.replace('@Get() list', '@Get list') })
    const offered = async (args: string[], cwd?: string) => {
      const { stderr } = await stack(['build', ...args], cwd ? { cwd } : {})
      return /can be fixed: (.*?)(?: · .*)?\n/.exec(stderr)?.[1]
    }
    expect(await offered([], root)).toBe('stack build --fix')
    expect(await offered(['--project', root])).toBe(`stack build --fix --project ${root}`)
    const spaced = path.join(temporaryFolder(), 'a shop')
    fs.cpSync(root, spaced, { recursive: true })
    expect(await offered(['--project', spaced])).toBe(`stack build --fix --project '${spaced}'`)
  })

  it('8.2 where --fix has edited files and the build is refused, they are named: not nothing was written', async () => {
    const source = app.replace('@Get() list', '@Get list').replace("'/orders'", "'/auth/x'")
    const root = project({ 'src/app.module.ts': source })
    const first = await stack(['build', '--fix', '--project', root])
    expect(first.code).toBe(1)
    expect(first.stderr).toMatch(
      /\n1 error: nothing was built, and --fix has edited src\/app\.module\.ts\nstack explain path-reserved says why\n$/,
    )
    expect(first.stderr).not.toContain('nothing was written')
    const second = await stack(['build', '--fix', '--project', root])
    expect(second.stderr).toMatch(/\n1 error: nothing was written\nstack explain path-reserved says why\n$/)
  })

  it.each([
    ['', {}],
    [', also with FORCE_COLOR', { FORCE_COLOR: '1' }],
  ])('10.7 writes no escape byte off a terminal%s', async (_also, env) => {
    const root = project({ 'src/app.module.ts': app.replace("'/orders'", "'/auth/x'") })
    expect((await stack(['build', '--project', root], { env })).stderr).not.toContain('\u001b')
  })

  it.runIf(hasTerminal)('8.2 and 10.7 on a terminal: as wide as it is, in colour unless NO_COLOR is set', async () => {
    const root = project({ 'src/app.module.ts': app.replace("'/orders'", "'/auth/x'") })
    const words = [process.execPath, path.join(packageRoot, 'bin/stack.cjs'), 'build', '--project', root]
    const command = (columns: number) => `stty cols ${columns}; ${words.map((word) => `'${word}'`).join(' ')}`
    const onTerminal = async (columns: number, env: Record<string, string>) => {
      const args = ['-qec', command(columns), '/dev/null']
      return (await startProcess('script', args, packageRoot, { TERM: 'xterm-256color', ...env }).finished).stdout
    }
    const plain = (text: string) => text.replaceAll('\r\n', '\n')
    const head = 'error[path-reserved]: the path "/auth/x" lies under /auth, where the auth worker answers\n'
    expect(plain(await onTerminal(140, { NO_COLOR: '1' }))).toMatch(head)
    const narrow = plain(await onTerminal(40, { NO_COLOR: '1' }))
    expect(narrow.split('\n').filter((line) => line.length > 40)).toEqual([])
    expect(narrow).not.toContain('\u001b')
    expect(await onTerminal(80, { NO_COLOR: '' })).toContain('\u001b[31merror[path-reserved]\u001b[39m')
  })
})

describe('1.3 the declared files', () => {
  it.each(
    titled([
      ['stack/project.json', '{ "project": "shop", "entri": "x" }', '1:22 unknown key "entri": did you mean "entry"?'],
      ['stack/project.json', '{\n  "project": "Shop"\n}', '2:3 "project" must be a name'],
      ['stack/project.json', '{ "project": "shop", "project": "x" }', '1:22 duplicate key "project"'],
      ['stack/project.json', '{ "project": "shop", }', 'is not valid JSON'],
      ['stack/project.json', '[]', '1:1 the document must be an object'],
      [
        'stack/project.json',
        '{ "project": "shop", "environments": { "staging": { "ref": "short", "url": "x" } } }',
        '1:53 "ref" must be eight',
      ],
      ['stack/roles.json', '{ "roles": [{ "name": "a/b" }] }', '1:15 "name" must be 1 to 63 characters'],
      [
        'stack/roles.json',
        '{ "roles": [{ "name": "a", "permissions": ["all"] }] }',
        '1:44 a permission is "resource.action"',
      ],
      ['stack/roles.json', '{ "roles": [{ "name": "a" }, { "name": "a" }] }', '1:32 the role "a" is declared twice'],
      [
        'stack/roles.json',
        '{ "roles": [{ "name": "a", "default": true }, { "name": "b", "default": true }] }',
        '1:62 "a" is the default role already',
      ],
      ['stack/roles.json', `${'['.repeat(100_000)}`, 'nested deeper than 64 levels'],
      [
        'stack/templates/receipt.json',
        '{ "channel": "email", "subject": "x",\n  "body": "<p>\\n{{ordr}}", "variables": [{ "name": "order" }] }',
        '2:3 "body", line 2, column 1: unknown variable "ordr": did you mean "order"?',
      ],
      [
        'stack/templates/receipt.json',
        '{ "channel": "email", "subject": "x", "body": "<script>" }',
        '1:39 "body", line 1, column 1: <script> is refused',
      ],
      [
        'stack/templates/receipt.json',
        '{ "channel": "sms", "boddy": "x" }',
        '1:21 unknown key "boddy": did you mean "body"?',
      ],
      ['stack/templates/receipt.json', '{ "channel": "sms", "body": "x", "body": "y" }', '1:34 duplicate key "body"'],
      [
        'stack/templates/reset_password.json',
        '{ "channel": "sms", "body": "x" }',
        '1:1 "reset_password" is a template of the stack itself',
      ],
      ['stack/templates/My-receipt.json', '{ "channel": "sms", "body": "x" }', '1:1 the key is the name of the file'],
    ]),
  )('%s', async (_title, file, contents, message) => {
    const { code, stderr } = await stack(['build', '--project', project({ [file]: contents })])
    expect(code).toBe(2)
    expect(stderr).toContain(file)
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('a key of two templates is refused with both files, and files of other kinds are left alone', async () => {
    const template = '{ "key": "receipt", "channel": "sms", "body": "x" }'
    const one = project({ 'stack/templates/one.json': template, 'stack/templates/README.md': '# Words' })
    expect((await stack(['build', '--project', one])).code).toBe(0)
    const two = project({ 'stack/templates/one.json': template, 'stack/templates/two.json': template })
    const { code, stderr } = await stack(['build', '--project', two])
    expect(code).toBe(2)
    expect(stderr).toMatch(/stack\/templates\/two\.json declares the template "receipt", as one\.json does/)
  })
})

describe('usage', () => {
  it.each([
    [['biuld'], "error: unknown command 'biuld'\n(Did you mean build?)"],
    [['build', '--formt', 'json'], "error: unknown option '--formt'\n(Did you mean --format?)"],
    [
      ['build', '--format', 'xml'],
      "error: option '--format <format>' argument 'xml' is invalid. Allowed choices are text, json, github, sarif.",
    ],
    [['build', 'extra'], "error: too many arguments for 'build'. Expected 0 arguments but got 1."],
    [['start', '--port', '0'], 'a whole number from 1 to 65535 is needed'],
    [['build', '--project', 'no/such/folder'], 'is no project: it has no stack/project.json'],
  ])('%j: exit 2', async (args, message) => {
    const { code, stdout, stderr } = await stack(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  it('outside a project: exit 2, and what to do', async () => {
    const { code, stderr } = await stack(['build'], { cwd: temporaryFolder() })
    expect(code).toBe(2)
    expect(stderr).toBe(
      'error: no stack/project.json here or in a folder above: stand in a project, or name one with --project\n',
    )
  })

  it('help and version go to stdout, exit 0', async () => {
    const { version } = JSON.parse(fs.readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(await stack(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    const help = await stack(['help', 'start'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('$ stack start --port 8790 --fresh')
  })

  it('without a verb: the help, exit 2', async () => {
    const { code, stderr } = await stack([])
    expect(code).toBe(2)
    expect(stderr).toContain('Usage: stack')
  })
})
