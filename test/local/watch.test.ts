/** `stack start` follows the source. A sound change is served, and any other leaves the last good build serving (8.6). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPort } from '../../local/ports.ts'
import { packageRoot, type Running, stack, start } from '../support/command.ts'
import { copyProject, temporaryFolder } from '../support/project.ts'
import { call } from '../support/stack.ts'

const orders = path.join(packageRoot, 'examples/orders')

interface Followed {
  root: string
  url: string
  running: Running
  /** Changes a file, and waits for the message about it. */
  edit(name: string, change: (text: string) => string, said: string): Promise<void>
}

async function follow(args: string[] = []): Promise<Followed> {
  const root = path.join(temporaryFolder(), 'shop')
  copyProject(orders, root)
  const port = String(await findPort())
  const running = start(['start', '--project', root, '--port', port, ...args])
  await running.seen(args.includes('--json') ? '"base_url"' : 'Ctrl-C ends')
  return {
    root,
    running,
    url: `http://127.0.0.1:${port}`,
    async edit(name, change, said) {
      const file = path.join(root, name)
      const before = args.includes('--json') ? 0 : running.output().length // Two streams have no common order.
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, change(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''))
      await running.seen(said, 20_000, before)
    },
  }
}

const catalogue = 'src/catalogue.controller.ts'
const postmaster = (root: string) =>
  fs.readFileSync(path.join(root, '.stack/db/data/postmaster.pid'), 'utf8').split('\n')[0]
const loose = `import { Injectable } from '@stack/backend'\n@Injectable()\nexport class Loose {}\n`

describe('stack start', () => {
  it('serves a change without a restart of Postgres; a refusal and a bundle that throws leave the last build serving', async () => {
    const { root, url, running, edit } = await follow()
    const database = postmaster(root)
    const status = async (address: string) => (await call(`${url}${address}`)).status
    expect(await status('/catalogue')).toBe(200)

    await edit(catalogue, (text) => text.replace("'/catalogue'", "'/goods'"), 'built in')
    expect([await status('/goods'), await status('/catalogue')]).toEqual([200, 404])

    await edit(
      catalogue,
      (text) => text.replace("'/goods'", "'/auth/goods'"),
      'refused, the last good build keeps serving',
    )
    expect(running.output()).toContain('error[path-reserved]: the path "/auth/goods" lies under /auth')
    expect(await status('/goods')).toBe(200)

    await edit(catalogue, (text) => text.replace("'/auth/goods'", "'/wares'"), 'built in')
    expect([await status('/wares'), await status('/goods')]).toEqual([200, 404])

    await edit(
      'src/prices.ts',
      (text) => `${text}\nthrow new Error('at the top')\n`,
      'does not start; the last good build',
    )
    expect(running.output()).toMatch(/the backend worker does not start: Error: at the top\n +at src\/prices\.ts:\d+:7/)
    expect(await status('/wares')).toBe(200)

    await edit('src/prices.ts', (text) => text.replace("\nthrow new Error('at the top')\n", ''), 'built in')
    expect(await status('/wares')).toBe(200)

    await edit('src/loose.ts', () => loose, 'error[class-not-listed]: no module that the root reaches lists Loose')
    await edit('src/loose.ts', () => '', 'built in')

    await edit('.dev.vars', () => 'PAYMENTS_SECRET=anew\n', '.dev.vars changed: serving with the new variables')
    await edit('migrations/0009_later.sql', () => 'select 1;\n', 'migrations run when a stack starts')
    const receipt = 'stack/templates/receipt.json'
    await edit(receipt, (text) => text.replace('Thank you.', '{{thanks}}'), 'unknown variable "thanks"')
    await edit(receipt, (text) => text.replace('{{thanks}}', 'Many thanks.'), 'built in')
    const { service_role_key: apikey } = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const template = await call(`${url}/v1/management/auth/templates/receipt`, { headers: { apikey } })
    expect(template.json.body).toContain('Many thanks.')
    await edit('stack/roles.json', () => '{', 'not built, the last good build keeps serving')
    expect(await status('/wares')).toBe(200)
    expect(postmaster(root)).toBe(database)
    running.child.kill('SIGINT')
    expect((await running.finished).code).toBe(0)
  }, 90_000)

  it('a failure in the new bundle is logged with its place in the new source', async () => {
    const { url, running, edit } = await follow()
    await edit(
      catalogue,
      (text) =>
        text
          .replace('{\n', '{\n  // one line more\n')
          .replace('@Get()', "@Get('broken') broken() { throw new Error('here') }\n  @Get()"),
      'built in',
    )
    const before = running.output().length
    expect((await call(`${url}/catalogue/broken`)).status).toBe(500)
    await running.seen('src/catalogue.controller.ts:', 5_000, before)
    running.child.kill('SIGINT')
    await running.finished
  })

  it('--json says each change as one object a line', async () => {
    const { running, edit } = await follow(['--json'])
    await edit(catalogue, (text) => text.replace("'/catalogue'", "'/auth/goods'"), '"event":"refused"')
    await edit(catalogue, (text) => text.replace("'/auth/goods'", "'/goods'"), '"event":"built"')
    running.child.kill('SIGINT')
    const { stdout } = await running.finished
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event)
    // The first change may come before the watch has begun. Then the message names no file.
    expect(events[0]).toMatchObject({ event: 'refused', refusals: [{ slug: 'path-reserved' }] })
    expect(events.at(-1)).toMatchObject({ event: 'built', changed: [catalogue], refusals: [] })
  })
})

describe('stack build --watch', () => {
  it('builds, says what changed and what came of it, and ends with Ctrl-C, exit 0', async () => {
    const root = path.join(temporaryFolder(), 'shop')
    copyProject(orders, root)
    const running = start(['build', '--watch', '--project', root])
    await running.seen('watching for changes')
    const file = path.join(root, catalogue)
    const text = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, text.replace("'/catalogue'", "'/webhooks'"))
    await running.seen('catalogue.controller.ts changed')
    await running.seen('error[path-reserved]')
    fs.writeFileSync(file, text.replace("'/catalogue'", "'/goods'"))
    await running.seen('/goods')
    running.child.kill('SIGINT')
    const { code, stdout } = await running.finished
    expect([code, stdout]).toEqual([0, ''])
  })

  it('a project that is refused at first is built once it is sound', async () => {
    const root = path.join(temporaryFolder(), 'shop')
    copyProject(orders, root)
    fs.writeFileSync(path.join(root, 'src/loose.ts'), loose)
    expect((await stack(['build', '--project', root])).code).toBe(1)
    const running = start(['build', '--watch', '--project', root])
    await running.seen('watching for changes')
    expect(fs.existsSync(path.join(root, '.stack/out'))).toBe(false)
    fs.rmSync(path.join(root, 'src/loose.ts'))
    await running.seen('built 11 routes')
    running.child.kill('SIGTERM')
    expect((await running.finished).code).toBe(0)
  })
})
