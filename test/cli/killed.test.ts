/**
 * Commands that are killed while they write, and commands on a full disk: each file is the old one or the new one, and never torn
 * (contract 8.1, 10.6). `STACK_KILLS=100` kills each command a hundred times.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { requireBuild } from '../../deploy/serve/builds.ts'
import { openWith } from '../../src/wire/sealing.ts'
import { packageRoot, stack, startProcess } from '../support/command.ts'
import { onFullDisk } from '../support/full-disk.ts'
import { createCounts, killAt, killsOf, momentsOf, type Remains } from '../support/kills.ts'
import { temporaryProject } from '../support/project.ts'
import { record } from '../support/recorder.ts'
import { useStack } from '../support/stack.ts'

// a run with many kills takes many minutes
vi.setConfig({ testTimeout: 3_600_000 })

/** Kills of each command that takes a fraction of a second. */
const kills = killsOf(8)
/** A build takes longer. */
const buildKills = killsOf(6)

/** A stack whose client has another address in each answer. */
let revision = 0
const providers = () => {
  const client = { key: 'key', enabled: true, application_key: 'shop', variant: 'release' }
  const web = { ...client, platform: 'web', web_client_id: 'web', return_uris: [`https://shop.example/${revision}`] }
  const ios = { ...client, platform: 'ios', bundle_id: 'com.example.shop', ios_client_id: 'ios' }
  const redirect = { redirect_uri: `com.example.shop:/${revision}` }
  return {
    data: [{ name: 'google', enabled: true, browser_clients: [web], native_clients: [{ ...ios, ...redirect }] }],
  }
}

/** A project with files of every command, and the variables that lead the commands to its own credentials. */
async function shop(): Promise<{ root: string; env: Record<string, string> }> {
  const { url } = await record((response) => response.writeHead(200).end(JSON.stringify(providers())))
  const environments = { staging: { ref: 'abcdefghm', url }, production: { ref: 'bbbbbbbbm', url } }
  const platform = { application_key: 'shop', variant: 'release' }
  const files = {
    'stack/project.json': { project: 'shop', entry: 'app.ts', environments, oauth: { web: platform, ios: platform } },
    'stack/roles.json': { roles: [] },
    '.stack/selection.json': { environment: 'staging' },
    'config/stack/credentials.json': credentials,
    'stack/oauth/web.json': { ref: 'abcdefghm', providers: { google: { return_uris: ['https://shop.example/0'] } } },
    'stack/oauth/ios.json': { ref: 'abcdefghm', providers: { google: { redirect_uri: 'com.example.shop:/0' } } },
  }
  const texts = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])
  const root = temporaryProject(Object.fromEntries(texts))
  fs.chmodSync(path.join(root, 'config/stack/credentials.json'), 0o600)
  return { root, env: { XDG_CONFIG_HOME: path.join(root, 'config'), STACK_SERVICE_ROLE_KEY: 'srk_1' } }
}
const credentials = { abcdefghm: { service_role_key: 'srk_1' }, bbbbbbbbm: { service_role_key: 'srk_2' } }

const jsonIn = (root: string, name: string) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'))
const numberIn = (text: unknown) => /\d+$/.exec(String(text))![0]

interface Case {
  /** The state of each file that the command writes. @throws for a torn file. */
  read(root: string): string[]
  /** Prepares a run. @returns the words of the command, and the states that it leads to. */
  run(root: string, before: string[], round: number): { words: string[]; after: string[] }
  writesIn: string
}

const cases: [string, Case][] = [
  [
    'env use',
    {
      writesIn: '.stack',
      read: (root) => [jsonIn(root, '.stack/selection.json').environment],
      run(_root, [before]) {
        const other = before === 'staging' ? 'production' : 'staging'
        return { words: ['env', 'use', other], after: [other] }
      },
    },
  ],
  [
    'env create',
    {
      writesIn: 'stack',
      read: (root) => [Object.keys(jsonIn(root, 'stack/project.json').environments).join()],
      run: (_root, [before], round) => ({
        words: ['env', 'create', `e${round}`, '--url', 'https://x.example'],
        after: [`${before},e${round}`],
      }),
    },
  ],
  [
    'roles create',
    {
      writesIn: 'stack',
      read: (root) => [
        jsonIn(root, 'stack/roles.json')
          .roles.map(({ name }: { name: string }) => name)
          .join(),
      ],
      run: (_root, [before], round) => ({
        words: ['roles', 'create', `r${round}`, '--env', 'staging'],
        after: [[before, `r${round}`].filter(Boolean).join()],
      }),
    },
  ],
  [
    'logout',
    {
      writesIn: 'config/stack',
      read: (root) => [Object.keys(jsonIn(root, 'config/stack/credentials.json')).join()],
      run(root) {
        fs.writeFileSync(path.join(root, 'config/stack/credentials.json'), JSON.stringify(credentials))
        return { words: ['logout', '--env', 'staging'], after: ['bbbbbbbbm'] }
      },
    },
  ],
  [
    'link',
    {
      writesIn: 'stack/oauth',
      read: (root) => [
        numberIn(jsonIn(root, 'stack/oauth/web.json').providers.google.return_uris),
        numberIn(jsonIn(root, 'stack/oauth/ios.json').providers.google.redirect_uri),
      ],
      run() {
        revision++
        return { words: ['link', '--env', 'staging'], after: [`${revision}`, `${revision}`] }
      },
    },
  ],
]

const leftovers = (folder: string) => fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))

/** @throws where a file has another state than before and after. */
function remainsOf(found: string[], before: string[], after: string[], hasLeftovers: boolean): Remains {
  for (const [index, state] of found.entries()) expect([before[index], after[index]]).toContain(state)
  if (found.join() === after.join()) return 'new'
  return found.join() === before.join() && !hasLeftovers ? 'old' : 'between'
}

describe('SIGKILL', () => {
  it.each(cases)('%s: every file is old or new', async (name, { read, run, writesIn }) => {
    const { root, env } = await shop()
    const folder = path.join(root, writesIn)
    const whole = async (round: number) => {
      const { words, after } = run(root, read(root), round)
      expect(await stack(words, { cwd: root, env })).toMatchObject({ code: 0 })
      expect(read(root)).toEqual(after)
      expect(leftovers(folder)).toEqual([])
    }
    await whole(1000)
    const began = performance.now()
    await whole(1001)
    const moments = momentsOf(kills, performance.now() - began, 10)
    const counts = createCounts(name)
    for (const [round, moment] of moments.entries()) {
      const prepared = run(root, read(root), round)
      const before = read(root)
      const wasKilled = await killAt({ words: prepared.words, cwd: root, env, writesIn: folder }, moment)
      counts.add(remainsOf(read(root), before, prepared.after, leftovers(folder).length > 0), wasKilled)
    }
    await whole(1002)
    counts.print()
  })
})

describe('SIGKILL of build', () => {
  const controller = (imports: string, body: string) =>
    `import { Controller, Get, Module${imports} } from '@stack/backend'
@Controller('/ping', { auth: false })
export class Ping {
  @Get() ping() { return ${body} }
}
@Module({ controllers: [Ping] })
export class AppModule {}
`
  // only the second one has the files of a database
  const sources = [controller('', `'pong'`), controller(', Database', 'Database.sql`select 1 as pong`')]

  /** Every file of a build but the record that skips the next one. */
  function filesOf(out: string): Record<string, string> {
    const names = fs.readdirSync(out, { recursive: true, encoding: 'utf8' }).sort()
    const files = names.filter(
      (name) => !/build\.json$|\.tmp$/.test(name) && fs.statSync(path.join(out, name)).isFile(),
    )
    return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(out, name), 'base64')]))
  }

  it('8.1 leaves the whole old one or the whole new one', async () => {
    const root = temporaryProject({ 'stack/project.json': '{"project":"ping","entry":"app.ts"}' })
    const out = path.join(root, '.stack')
    const write = (index: number) => fs.writeFileSync(path.join(root, 'app.ts'), sources[index]!)
    const build = async () => expect(await stack(['build'], { cwd: root })).toMatchObject({ code: 0 })
    const wholes: Record<string, string>[] = []
    let runMs = 0
    for (const index of [0, 1]) {
      write(index)
      const began = performance.now()
      await build()
      runMs = performance.now() - began // that of the second run, which finds everything loaded
      wholes.push(filesOf(out))
    }
    expect(Object.keys(wholes[0]!)).not.toEqual(Object.keys(wholes[1]!))
    const counts = createCounts('build')
    let served = 1
    for (const [round, moment] of momentsOf(buildKills, runMs, 40).entries()) {
      const next = 1 - served
      write(next)
      const wasKilled = await killAt({ words: ['build'], cwd: root, writesIn: out }, moment)
      const isUnfinished = fs.readdirSync(out).some((name) => /^unfinished\.\d+\.json$/.test(name))
      requireBuild(out) // as \`stack serve --out\` does
      const found = filesOf(out)
      const index = wholes.findIndex((whole) => JSON.stringify(whole) === JSON.stringify(found))
      expect([round, index === next || (index === served && !isUnfinished)]).toEqual([round, true])
      counts.add(isUnfinished ? 'between' : index === next ? 'new' : 'old', wasKilled)
      served = index
    }
    write(1 - served)
    await build()
    expect(filesOf(out)).toEqual(wholes[1 - served])
    expect([...leftovers(out), ...leftovers(path.join(out, 'out'))]).toEqual([])
    counts.print()
  })
})

describe('secret set', () => {
  const orders = useStack('examples/orders')
  /** Longer than one packet of the network. */
  const valueIn = (round: number) => `${round}-`.repeat(9_000)
  const set = (input: string) => ({ words: ['secret', 'set', 'KILLED', '--stdin'], cwd: orders.root, input })

  /** Opens the entry as the auth worker does. */
  async function stored(): Promise<string> {
    const [row] = await orders.sql<{ sealed: string }>(`select sealed from auth.vault_entries where name = 'KILLED'`)
    const { sealing_key } = jsonIn(orders.root, '.stack/keys.json')
    return openWith([sealing_key], row!.sealed, 'vault backend KILLED')
  }

  it('that is killed leaves the old value or the new one', async () => {
    const whole = async (round: number) => {
      const { words, ...options } = set(valueIn(round))
      expect(await stack(words, options)).toMatchObject({ code: 0 })
      expect(await stored()).toBe(valueIn(round))
    }
    await whole(1000)
    const began = performance.now()
    await whole(1001)
    const counts = createCounts('secret set')
    const given = [valueIn(1001)]
    for (const [round, moment] of momentsOf(kills, performance.now() - began).entries()) {
      const before = await stored()
      const value = valueIn(round)
      given.push(value)
      const wasKilled = await killAt(set(value), moment)
      const found = await stored() // the stack may still be at work on what it was sent
      expect(given).toContain(found)
      counts.add(found === before ? 'old' : 'new', wasKilled)
    }
    await whole(1002)
    counts.print()
  })

  it('works on a full disk: it writes no file here', async () => {
    const { words, cwd } = set('')
    const command = [...onFullDisk(), process.execPath, path.join(packageRoot, 'bin/stack.cjs'), ...words]
    const { code, stderr } = await startProcess(command[0]!, command.slice(1), cwd, {}, 'whole').finished
    expect([code, stderr]).toEqual([0, expect.stringContaining('KILLED is stored')])
    expect(await stored()).toBe('whole')
  })
})

describe('a full disk', () => {
  const app = `import { Module } from '@stack/backend'
@Module({})
export class AppModule {}
`
  /** Every file of a folder with its text. */
  function contentsOf(root: string): Record<string, string> {
    const names = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()
    const files = names.filter((name) => fs.statSync(path.join(root, name)).isFile())
    return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(root, name), 'utf8')]))
  }

  it.each<[string, number, string[], string]>([
    ['env use', 0, ['env', 'use', 'production'], '.stack/selection.json'],
    ['env create', 0, ['env', 'create', 'e1', '--url', 'https://x.example'], 'stack/project.json'],
    ['roles create', 0, ['roles', 'create', 'r1', '--env', 'staging'], 'stack/roles.json'],
    ['logout', 0, ['logout', '--env', 'staging'], 'config/stack/credentials.json'],
    ['link', 0, ['link', '--env', 'staging'], 'stack/oauth/web.json'],
    ['build', 0, ['build'], '.stack/table.json'],
    ['build, after some files', 4, ['build'], '.stack/out/worker.js.map'],
    ['serve', 0, ['serve', '--port', '18998', '--no-metrics'], '.stack/serve/lock.json'],
  ])('%s: exit 1, the file is named, and all are as before', async (_name, kib, words, file) => {
    const { root, env } = await shop()
    revision++ // so that `link` has something to write
    fs.writeFileSync(path.join(root, 'app.ts'), app)
    if (words[0] === 'build') {
      await stack(['build'], { cwd: root, env })
      fs.writeFileSync(path.join(root, 'app.ts'), app.replace('AppModule', 'AppModule /* changed */'))
      fs.rmSync(path.join(root, '.stack/build.json')) // a build that begins removes it
    }
    const given = { ...env, DATABASE_URL: 'postgresql://owner@127.0.0.1:1/app' }
    const before = contentsOf(root)
    const command = [...onFullDisk(kib), process.execPath, path.join(packageRoot, 'bin/stack.cjs'), ...words]
    const { code, stdout, stderr } = await startProcess(command[0]!, command.slice(1), root, given).finished
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^(?:shop\/staging\n)?error: /)])
    expect(stderr).toContain(`${root}/${file} was not written: it is larger than a file may be here (EFBIG)`)
    expect(stderr).toContain('What stood there is unchanged. Raise the limit')
    expect(contentsOf(root)).toEqual(before)
    if (words[0] !== 'serve') expect(await stack(words, { cwd: root, env })).toMatchObject({ code: 0 })
  })
})
