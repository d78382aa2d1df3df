/** `stack start` as a process: cold and warm, a taken port, dead records, killed parts, the end (contract 1.5, 10). */
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrationsIn } from '../../build/read/migrations.ts'
import { setsOf } from '../../local/migrate.ts'
import { findPort } from '../../local/ports.ts'
import { packageRoot, type Running, stack, start, startProcess } from '../support/command.ts'
import { copyProject, temporaryFolder } from '../support/project.ts'
import { call } from '../support/stack.ts'

const orders = path.join(packageRoot, 'examples/orders')

/** Migrations of a new stack of the example. */
const applied = setsOf(orders).flatMap(({ directory }) => migrationsIn(directory)).length

function shop(folder = temporaryFolder()): string {
  const root = path.join(folder, 'a shop (ü)')
  copyProject(orders, root)
  return root
}

const record = (root: string) => JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
const processesFile = (root: string) => JSON.parse(fs.readFileSync(path.join(root, '.stack/processes.json'), 'utf8'))

async function startShop(root: string, args: string[] = []): Promise<{ running: Running; url: string; port: string }> {
  const port = String(await findPort())
  const running = start(['start', '--project', root, '--port', port, ...args])
  await running.seen('Ctrl-C ends')
  return { running, port, url: `http://127.0.0.1:${port}` }
}

/** @returns the printed commands that a person would paste, without their headings. */
function printedCommands(running: Running): string {
  const commands = running
    .output()
    .split(/\n {2}# /)
    .slice(1)
    .map((text) => text.split('\n\n')[0]!.split('\n').slice(1).join('\n'))
  expect(commands).toHaveLength(3)
  return commands.join('\n')
}

const statusLines = (answers: string) => answers.match(/^HTTP\/1\.1 .*$/gm)?.map((line) => line.trim())

function isRunning(pid: number): boolean {
  try {
    return !fs.readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

function postmasterOf(root: string): number {
  return Number(fs.readFileSync(path.join(root, '.stack/db/data/postmaster.pid'), 'utf8').split('\n')[0])
}

async function gone(pid: number): Promise<void> {
  for (let waited = 0; isRunning(pid) && waited < 10_000; waited += 50) await sleep(50)
  expect(isRunning(pid)).toBe(false)
}

describe('stack start', () => {
  it('cold, then warm; says what runs, where, and what to try; Ctrl-C ends all of it', async () => {
    const root = shop()
    const cold = await startShop(root)
    const text = cold.running.output()
    expect(text).toMatch(
      /build +\d+ ms {2}11 routes, 2 webhooks\n {2}postgres +\d+ ms {2}18\.\d+ embedded, \d+ migrations applied\n {2}workers +\d+ ms/,
    )
    expect(text).toContain(`${applied} migrations applied`)
    expect(text).toMatch(/ready in \d+\.\d\d s \(cold\)/)
    expect(text).toContain(`API        ${cold.url}`)
    expect(text).toContain('POST /webhooks/payments')
    expect(text.match(/^ {2}# .*$/gm)).toEqual([
      '  # sign up, and call a route that requires it',
      '  # deliver a signed payment',
      '  # see a refusal: role staff',
    ])
    expect(text).not.toContain(record(root).service_role_key)
    const parts = [postmasterOf(root), ...processesFile(root).workerd.map(({ pid }: { pid: number }) => pid)]
    expect(parts.length).toBeGreaterThan(1)
    expect(fs.statSync(path.join(root, '.stack/local.json')).mode & 0o777).toBe(0o600)
    expect(fs.statSync(path.join(root, '.stack/keys.json')).mode & 0o777).toBe(0o600)
    expect(record(root)).toMatchObject({
      project: 'orders',
      base_url: cold.url,
      ref: expect.stringMatching(/^[a-z0-9]{8}m$/),
    })

    cold.running.child.kill('SIGINT')
    cold.running.child.kill('SIGINT') // Ctrl-C of a terminal arrives twice.
    expect((await cold.running.finished).code).toBe(0)
    for (const pid of parts) await gone(pid)
    expect(fs.readdirSync(path.join(root, '.stack')).sort()).toEqual([
      'auth-local',
      'bindings.toml',
      'build.json',
      'client.d.ts',
      'client.js',
      'db',
      'keys.json',
      'openapi.json',
      'out',
      'roles.d.ts',
      'storage',
      'table.json',
    ])

    const warm = await startShop(root)
    expect(warm.running.output()).toMatch(/nothing to migrate[\s\S]*ready in \d+\.\d\d s \(warm\)/)
    warm.running.child.kill('SIGTERM')
    expect((await warm.running.finished).code).toBe(0)
  })

  // A small machine may lack these tools. The test above then still checks the printed text.
  const hasTools = ['curl', 'openssl', 'bash'].every((tool) => !spawnSync(tool, ['--version']).error)

  if (!hasTools) process.stderr.write('the printed commands are skipped: they need curl, openssl and bash\n')

  it.skipIf(!hasTools)('the three commands that it prints work as they stand', async () => {
    const root = shop()
    const { running, url } = await startShop(root)
    const answers = execFileSync('bash', ['-c', printedCommands(running)], { encoding: 'utf8' })
    expect(statusLines(answers)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 403 Forbidden'])
    expect(answers).toContain('{"ok":true,"handled":true}')
    expect(answers).toContain('this route requires the role \\"staff\\"')
    await running.seen('webhook payments: "payment.succeeded" handled by')
    expect((await call(`${url}/catalogue`)).status).toBe(200)
  })

  it.skipIf(!hasTools)(
    'they work for whatever a path, a key, a folder and a secret hold, also where history is expanded',
    async () => {
      const root = path.join(temporaryFolder(), "it's $HOME !! `id` (ü)")
      copyProject(orders, root)
      const edit = (file: string, from: string, to: string) => {
        const name = path.join(root, 'src', file)
        expect(fs.readFileSync(name, 'utf8')).toContain(from)
        fs.writeFileSync(
          name,
          fs.readFileSync(name, 'utf8').replace(from, () => to),
        )
      }
      edit('orders.controller.ts', "@Controller('/orders')", "@Controller(`/o'r$d!!(e);r&s=$HOME`)")
      const key = `it's "paid" $HOME !! \`id\` \\ \t\n\u0007 end`
      edit('payments.webhook.ts', "@On('payment.succeeded')", `@On(${JSON.stringify(key)})`)
      const secret = `it's $HOME !! $(id) \\ #1 "quoted" ü`
      fs.writeFileSync(path.join(root, '.dev.vars'), `# first\nPAYMENTS_SECRET=\`${secret}\` # the local one\n`)
      const { running } = await startShop(root)
      const commands = printedCommands(running)
      const input = `set -o history -o histexpand\necho first\n${commands}\n`
      const env = { PATH: process.env['PATH']!, HISTFILE: '/dev/null', PAYMENTS_SECRET: 'of the shell' }
      for (const answers of [
        execFileSync('bash', ['--norc', '-c', commands], { encoding: 'utf8', env }),
        execFileSync('bash', ['--norc', '--noprofile'], { encoding: 'utf8', env, input }),
      ]) {
        expect(statusLines(answers)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 403 Forbidden'])
        expect(answers).toContain('{"ok":true,"handled":true}')
      }
      expect(running.output()).not.toContain(secret)
    },
  )

  it('--json prints one object when ready, then the log as lines', async () => {
    const root = shop()
    const port = String(await findPort())
    const running = start(['start', '--project', root, '--port', port, '--json'])
    await running.seen('"base_url"')
    await call(`http://127.0.0.1:${port}/catalogue`)
    await running.seen('"path":"/catalogue"')
    running.child.kill('SIGINT')
    const { stdout } = await running.finished
    const [first, ...lines] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(first).toMatchObject({ project: 'orders', times: { all: expect.any(Number) } })
    expect(lines.length).toBeGreaterThan(0)
  })

  it('what is not set is said', async () => {
    const root = shop()
    fs.writeFileSync(path.join(root, '.dev.vars'), 'PAYMENTS_SECRET=\n')
    const { running, url } = await startShop(root)
    // Both ways to set it are printed: the command, and the route that it calls (contract 7.10).
    expect(running.output()).toContain(
      'POST /webhooks/codehost\n               ! CODEHOST_SECRET is not set: every delivery is refused\n                 stack secret set CODEHOST_SECRET --stdin   (PUT /admin/vault/backend/CODEHOST_SECRET)\n',
    )
    // An empty line hides the vault, so no command would help.
    expect(running.output()).toContain(
      'POST /webhooks/payments\n               ! PAYMENTS_SECRET is empty in .dev.vars: every delivery is refused\n                 give it a value there, or remove the line: it hides the vault\n',
    )
    const put = await call(`${url}/admin/vault/backend/CODEHOST_SECRET`, {
      method: 'PUT',
      json: { value: 'codehost' },
      headers: { apikey: record(root).service_role_key },
    })
    expect(put.status).toBe(204)
    running.child.kill('SIGINT')
    await running.finished
    const again = await startShop(root)
    expect(again.running.output()).not.toContain('CODEHOST_SECRET')
  })

  it('5.5 a table that users reach without row-level security: refused with its place, or by the catalog', async () => {
    const root = shop()
    const file = path.join(root, 'migrations/0002_more.sql')
    const open = 'create table public.open (id int);\n'
    fs.writeFileSync(file, `${open}grant select on public.open to backend_authenticated;\n`)
    const proven = await stack(['start', '--project', root])
    expect(proven.code).toBe(1)
    expect(proven.stderr).toMatch(
      /error\[table-without-row-security\][\s\S]*?\n {2}--> migrations\/0002_more\.sql:2:1\n/,
    )
    fs.writeFileSync(file, `${open}do $$ begin execute 'grant select on public.open to public'; end $$;\n`)
    const found = await stack(['start', '--project', root])
    expect([found.code, found.stderr]).toEqual([
      1,
      expect.stringContaining('the table public.open is granted to users'),
    ])
    fs.appendFileSync(file, "comment on table public.open is '@stack public';\n")
    const { running } = await startShop(root)
    expect(running.output()).toContain(`${applied + 1} migrations applied`)
  })

  it('a second start in the same folder says where the first runs, and exits 0', async () => {
    const root = shop()
    const { url } = await startShop(root)
    const { code, stderr } = await stack(['start', '--project', root])
    expect([code, stderr]).toEqual([0, expect.stringContaining(`runs already, as process ${record(root).pid}`)])
    expect(stderr).toContain(url)
    const fresh = await stack(['start', '--project', root, '--fresh'])
    expect([fresh.code, fresh.stderr]).toEqual([3, expect.stringContaining('end it first')])
  })

  it('an explicit port that is taken: exit 3; the default one: the next that is free, said', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as net.AddressInfo
    const { code, stderr } = await stack(['start', '--project', shop(), '--port', String(port)])
    expect(code).toBe(3)
    expect(stderr).toContain(`error: port ${port} is taken by another process: name another with --port`)
  })

  it('10.2 a project that is refused: exit 1, nothing is left running', async () => {
    const root = shop()
    fs.appendFileSync(path.join(root, 'src/orders.ts'), '\n@Injectable()\nclass Forgotten {}\n')
    const { code, stderr } = await stack(['start', '--project', root])
    expect(code).toBe(1)
    expect(stderr).toContain('error[class-not-exported]')
    expect(fs.existsSync(path.join(root, '.stack/db/data/postmaster.pid'))).toBe(false)
  })

  it('a bundle that throws while it is loaded is named, at the line of the project', async () => {
    const root = shop()
    const file = path.join(root, 'src/prices.ts')
    fs.appendFileSync(file, `\nthrow new TypeError('not at load')\n`)
    const line =
      fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .findIndex((text) => text.startsWith('throw')) + 1
    const { code, stderr } = await stack(['start', '--project', root])
    expect(code).toBe(1)
    expect(stderr).toContain('error: the backend worker does not start: TypeError: not at load')
    expect(stderr).toContain(`src/prices.ts:${line}:7`)
  })

  it('5.5 a start that is refused has migrated nothing: a migration, the source, a bundle that throws', async () => {
    const root = shop()
    const file = path.join(root, 'migrations/0002_more.sql')
    const refused = async () => {
      const { code, stderr } = await stack(['start', '--project', root])
      expect([code, fs.existsSync(path.join(root, '.stack/db/data/postmaster.pid'))]).toEqual([1, false])
      expect(stderr).not.toContain('nothing was written') // The start wrote the folder of the database and the keys.
      return stderr
    }
    const mended = (name: string, broken: string) => {
      const before = fs.readFileSync(path.join(root, name), 'utf8')
      fs.writeFileSync(path.join(root, name), before + broken)
      return () => fs.writeFileSync(path.join(root, name), before)
    }
    fs.writeFileSync(file, 'create table public.more (id int);\nselect nothing_of_that_name();\n')
    expect(await refused()).toContain('0002_more.sql:2 failed: function nothing_of_that_name() does not exist')
    fs.writeFileSync(file, 'create table public.more (id int);\n')
    let mend = mended('src/orders.ts', '\n@Injectable()\nclass Forgotten {}\n')
    expect(await refused()).toMatch(
      /error\[class-not-exported\][\s\S]*2 errors: nothing was migrated, and nothing is running/,
    )
    mend()
    mend = mended('src/prices.ts', "\nthrow new TypeError('not at load')\n")
    expect(await refused()).toContain('the backend worker does not start: TypeError: not at load')
    mend()
    const { running } = await startShop(root)
    expect(running.output()).toContain(`${applied + 1} migrations applied`)
    running.child.kill('SIGINT')
    await running.finished

    fs.appendFileSync(file, '-- edited\n')
    expect(await refused()).toMatch(/0002_more\.sql was changed after it was applied .*stack start --fresh/)
  })

  it('interrupted while it starts: exit 130, and everything is ended', async () => {
    const root = shop()
    const running = start(['start', '--project', root])
    await running.seen('orders/local')
    await sleep(150)
    running.child.kill('SIGINT')
    const { code, stderr } = await running.finished
    expect([code, stderr]).toEqual([130, expect.stringContaining('everything that was started is ended')])
    expect(fs.existsSync(path.join(root, '.stack/db/data/postmaster.pid'))).toBe(false)
  })
})

describe('what was left behind', () => {
  it('of a stack that was killed: record, workerd and Postgres are said, and ended first', async () => {
    const root = shop()
    const first = await startShop(root)
    const parts = [postmasterOf(root), ...processesFile(root).workerd.map(({ pid }: { pid: number }) => pid)]
    const { token } = await signUp(first.url)
    process.kill(record(root).pid, 'SIGKILL')
    await first.running.finished
    const again = await startShop(root)
    for (const pid of parts) await gone(pid)
    const text = again.running.output()
    expect(text).toContain('is left over: that stack is gone, and the record is ignored')
    expect(text).toContain('a workerd of this project was still running without its stack, and was ended first')
    expect(text).toContain('a Postgres of this project was still running without its stack, and was ended first')
    expect(token).toBeTruthy()
  })

  it('a Postgres that is killed is started again, with its data', async () => {
    const root = shop()
    const { running, url } = await startShop(root)
    const { token } = await signUp(url)
    await call(`${url}/orders`, { token, json: { sku: 'tea-assam', quantity: 1 } })
    process.kill(postmasterOf(root), 'SIGKILL')
    await running.seen('Postgres runs again')
    expect((await call(`${url}/orders`, { token })).json).toHaveLength(1)
  })

  it('while the database is gone, gated routes answer 503 and public ones that need none still serve', async () => {
    const root = shop()
    const { url } = await startShop(root)
    const { token } = await signUp(url)
    expect((await call(`${url}/staff/orders`, { token })).status).toBe(403) // The worker has the key set from now on.
    process.kill(postmasterOf(root), 'SIGKILL')
    const answer = await call(`${url}/staff/orders`, { token })
    expect([503, 403]).toContain(answer.status) // 403 means that it is back already.
    expect((await call(`${url}/orders`)).status).toBe(401)
  })

  it('a workerd that ends by itself is back, said, and still ended with the stack', async () => {
    const root = shop()
    const { running, url } = await startShop(root)
    const [{ pid }] = processesFile(root).workerd
    process.kill(pid, 'SIGKILL')
    await running.seen('workerd ended by itself and was started again')
    const [{ pid: next }] = processesFile(root).workerd
    expect(next).not.toBe(pid)
    expect((await call(`${url}/catalogue`)).status).toBe(200)
    process.kill(record(root).pid, 'SIGKILL')
    await running.finished
    await startShop(root)
    await gone(next)
  })

  it('keys that were lost are no keys for the old data: said at once, and --fresh starts anew', async () => {
    const root = shop()
    const first = await startShop(root)
    first.running.child.kill('SIGINT')
    await first.running.finished
    const keys = path.join(root, '.stack/keys.json')
    for (const [contents, sentence] of [
      ['{', 'keys.json does not hold this stack’s keys'],
      ['{}', 'keys.json does not hold this stack’s keys'],
      [undefined, 'the local database was made with other keys'],
    ] as const) {
      if (contents === undefined) fs.rmSync(keys)
      else fs.writeFileSync(keys, contents)
      const { code, stderr } = await stack(['start', '--project', root])
      expect([code, stderr.replace("'", '’')]).toEqual([1, expect.stringContaining(sentence)])
      expect(fs.existsSync(path.join(root, '.stack/db/data/postmaster.pid'))).toBe(false)
    }
    fs.writeFileSync(keys, '{')
    const { running } = await startShop(root, ['--fresh'])
    expect(running.output()).toContain('(cold)')
  })

  it('--fresh forgets the data, and the keys', async () => {
    const root = shop()
    const first = await startShop(root)
    const { ref } = record(root)
    const { email } = await signUp(first.url)
    const stored = path.join(root, '.stack/storage/left-behind')
    fs.writeFileSync(stored, '')
    first.running.child.kill('SIGINT')
    await first.running.finished
    const { url } = await startShop(root, ['--fresh'])
    expect([record(root).ref === ref, fs.existsSync(stored)]).toEqual([false, false])
    expect(
      (await call(`${url}/auth/sign-in/password`, { json: { email, password: 'correct horse battery' } })).status,
    ).toBe(401)
  })
})

describe('npm', () => {
  it('TERM to npm ends what it started, though npm does not pass it on', async () => {
    const root = shop()
    const port = String(await findPort())
    const npm = startProcess(
      'npm',
      ['run', '-s', 'stack', '--', 'start', '--project', root, '--port', port],
      packageRoot,
    )
    await npm.seen('Ctrl-C ends')
    const parts = [record(root).pid, postmasterOf(root)]
    npm.child.kill('SIGTERM')
    for (const pid of parts) await gone(pid)
  })
})

async function signUp(url: string): Promise<{ token: string; email: string }> {
  const email = `${crypto.randomUUID()}@example.com`
  const { json } = await call(`${url}/auth/sign-up`, { json: { email, password: 'correct horse battery' } })
  return { token: json.access_token, email }
}
