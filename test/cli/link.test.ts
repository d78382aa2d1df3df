/** `stack link` (contract 10.6; source, "Client selection for linked apps"): against a real stack. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { packageRoot, stack, startProcess } from '../support/command.ts'
import { administer } from '../support/management.ts'
import { temporaryProject } from '../support/project.ts'
import { useStack } from '../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)

const sha1 = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'
const release = { enabled: true, application_key: 'shop', variant: 'release' }
const web = (key = 'web', more: object = {}) => ({
  key,
  ...release,
  platform: 'web',
  web_client_id: `${key}.apps.example`,
  return_uris: ['https://shop.example/signed-in'],
  ...more,
})
const ios = (key = 'ios', more: object = {}) => ({
  key,
  ...release,
  platform: 'ios',
  bundle_id: 'com.example.shop',
  ios_client_id: `${key}.apps.example`,
  redirect_uri: 'com.example.shop:/signed-in',
  ...more,
})
const android = (key = 'android', more: object = {}) => ({
  key,
  ...release,
  platform: 'android',
  package_name: 'com.example.shop',
  android_client_id: `${key}.apps.example`,
  server_client_id: 'web.apps.example',
  signing_certificate_sha1: sha1,
  redirect_uri: 'com.example.shop:/signed-in',
  ...more,
})
const github = (more: object = {}) => ({
  key: 'web',
  ...release,
  platform: 'web',
  web_client_id: 'github-web',
  return_uris: ['https://shop.example/signed-in'],
  ...more,
})

const target = { application_key: 'shop', variant: 'release' }
const everywhere = { web: target, ios: target, android: target }

const projectFile = () => path.join(shop.root, 'stack/project.json')
const oauth = (selection: object | undefined) =>
  fs.writeFileSync(projectFile(), `${JSON.stringify({ project: 'orders', oauth: selection }, undefined, 2)}\n`)
const fileOf = (platform: string) => path.join(shop.root, `stack/oauth/${platform}.json`)
const textOf = (platform: string) => fs.readFileSync(fileOf(platform), 'utf8')
const snapshot = (platform: string) => JSON.parse(textOf(platform))
const written = () =>
  fs.existsSync(path.dirname(fileOf('web'))) ? fs.readdirSync(path.dirname(fileOf('web'))).sort() : []
const run = (...args: string[]) => stack(args, { cwd: shop.root })
const write = (name: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(shop.root, name)), { recursive: true })
  fs.writeFileSync(path.join(shop.root, name), text)
}

async function configure(name: string, config: object, enabled = true): Promise<void> {
  for (const answer of [
    await admin.call('PUT', `/providers/${name}/config`, config),
    await admin.call('POST', `/providers/${name}`, { enabled }),
  ])
    if (answer.status !== 200) throw new Error(answer.text)
}

beforeEach(async () => {
  for (const name of ['google', 'apple', 'microsoft', 'github']) await admin.call('DELETE', `/providers/${name}/config`)
  for (const name of ['stack/oauth', 'android', 'ios'])
    fs.rmSync(path.join(shop.root, name), { recursive: true, force: true })
})

describe('the object oauth of stack/project.json is refused with the place', () => {
  it.each([
    ['an unknown platform', { wbe: target }, 'unknown key "wbe": did you mean "web"?'],
    ['an unknown key', { web: { ...target, client_key: {} } }, 'unknown key "client_key": did you mean "client_keys"?'],
    ['no variant', { web: { application_key: 'shop' } }, '"variant" must be one line'],
    ['no object', { web: 'shop' }, '"web" must be an object'],
    [
      'an unknown provider',
      { client_keys: { gogle: 'web' } },
      '"gogle" is no provider with clients: did you mean "google"?',
    ],
    ['a provider without clients', { client_keys: { phone: 'web' } }, '"phone" is no provider with clients'],
    ['no key', { client_keys: { google: 'A B' } }, '"google" must be the key of one of its clients'],
    [
      'one provider twice',
      { client_keys: { google: 'a', provider_a: 'b' } },
      '"provider_a" and another name of google are both given',
    ],
  ])('%s', async (_title, selection, sentence) => {
    const document = JSON.stringify({ project: 'shop', oauth: selection }, undefined, 2)
    const root = temporaryProject({ 'stack/project.json': document })
    const { code, stdout, stderr } = await stack(['env', 'list'], { cwd: root })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error: stack\/project\.json:[3-9]:\d+ /)
    expect(stderr).toContain(sentence)
  })
})

describe('the snapshots', () => {
  it('10.6 hold the public fields of each platform, and no name of a secret', async () => {
    await configure('google', { browser_clients: [web()], native_clients: [ios(), android()] })
    await configure('github', { browser_clients: [github()] })
    oauth(everywhere)
    const { code, stdout, stderr } = await run('link')
    expect([code, stderr]).toEqual([0, 'orders/local\n'])
    const { record } = shop.stack
    expect(JSON.parse(stdout)).toEqual({
      project: 'orders',
      environment: 'local',
      ref: record.ref,
      base_url: shop.url,
      snapshots: ['web', 'ios', 'android'].map((name) => ({ file: `stack/oauth/${name}.json`, change: 'written' })),
    })
    const stackFields = {
      project: 'orders',
      environment: 'local',
      ref: record.ref,
      base_url: shop.url,
      publishable_key: record.publishable_key,
      ...target,
    }
    const { key, web_client_id, return_uris } = web()
    expect(snapshot('web')).toEqual({
      ...stackFields,
      platform: 'web',
      providers: {
        google: { client_key: key, web_client_id, return_uris },
        github: { client_key: 'web', web_client_id: 'github-web', return_uris },
      },
    })
    expect(snapshot('ios').providers).toEqual({
      google: {
        client_key: 'ios',
        bundle_id: 'com.example.shop',
        ios_client_id: 'ios.apps.example',
        redirect_uri: 'com.example.shop:/signed-in',
      },
    })
    expect(snapshot('android').providers.google).toMatchObject({
      client_key: 'android',
      signing_certificate_sha1: sha1,
    })
    expect(['web', 'ios', 'android'].map(textOf).join()).not.toMatch(/credential|secret|srk_/)
  })

  it('a file that would not change is not touched', async () => {
    await configure('google', { browser_clients: [web()], native_clients: [ios()] })
    oauth({ web: target, ios: target })
    await run('link')
    const times = () => ['web', 'ios'].map((name) => fs.statSync(fileOf(name)).mtimeMs)
    const before = times()
    await configure('google', { browser_clients: [web('web', { return_uris: ['https://shop.example/other'] })] })
    const { stdout } = await run('link')
    expect(JSON.parse(stdout).snapshots.map(({ change }: { change: string }) => change)).toEqual([
      'written',
      'unchanged',
    ])
    expect(times()[1]).toBe(before[1])
    expect(snapshot('web').providers.google.return_uris).toEqual(['https://shop.example/other'])
  })

  it('a client that was disabled or removed is absent from the next one, and the file goes when none is left', async () => {
    await configure('google', { browser_clients: [web()], native_clients: [ios()] })
    await configure('github', { browser_clients: [github()] })
    oauth({ web: target, ios: target })
    await run('link')
    await configure('github', { browser_clients: [github({ enabled: false })] })
    expect((await run('link')).code).toBe(0)
    expect(Object.keys(snapshot('web').providers)).toEqual(['google'])
    await configure('google', { browser_clients: [web('web', { variant: 'debug' })], native_clients: [] })
    const last = await run('link')
    expect([last.code, JSON.parse(last.stdout).snapshots]).toEqual([
      0,
      ['web', 'ios'].map((name) => ({ file: `stack/oauth/${name}.json`, change: 'removed' })),
    ])
    expect(last.stderr).toContain('every client of the application "shop", variant "release" is disabled or removed')
    expect(written()).toEqual([])
  })

  it('a provider that is disabled has no client in them', async () => {
    await configure('google', { browser_clients: [web()] }, false)
    await configure('github', { browser_clients: [github()] })
    oauth({ web: target })
    expect((await run('link')).code).toBe(0)
    expect(Object.keys(snapshot('web').providers)).toEqual(['github'])
  })
})

describe('the selection', () => {
  it('several clients match: refused with their keys, and client_keys selects one', async () => {
    await configure('google', { browser_clients: [web(), web('other')] })
    oauth({ web: target })
    const { code, stdout, stderr } = await run('link')
    expect([code, stdout, written()]).toEqual([1, '', []])
    expect(stderr).toContain('web: google has 2 clients for the application "shop", variant "release"')
    expect(stderr).toContain('"oauth.web.client_keys": web, other')
    for (const [selection, key] of [
      [{ web: target, client_keys: { google: 'other' } }, 'other'],
      [{ web: { ...target, client_keys: { provider_a: 'web' } }, client_keys: { google: 'other' } }, 'web'],
    ] as const) {
      oauth(selection)
      expect((await run('link')).code).toBe(0)
      expect(snapshot('web').providers.google.client_key).toBe(key)
    }
  })

  it('no client matches: refused with the candidates, and the old files stay', async () => {
    await configure('google', { browser_clients: [web()], native_clients: [ios()] })
    oauth({ web: target })
    await run('link')
    const before = textOf('web')
    oauth({ web: target, ios: { application_key: 'shop', variant: 'relaese' } })
    await configure('google', { browser_clients: [web('new')] })
    const { code, stderr } = await run('link')
    expect(code).toBe(1)
    expect(stderr).toContain('ios: no client is for the application "shop", variant "relaese". The stack has:\n')
    expect(stderr).toContain('  "application_key": "shop", "variant": "release"   (google ios)')
    expect([written(), textOf('web')]).toEqual([['web.json'], before])
  })

  it('a key that no client has is refused with those that there are', async () => {
    await configure('google', { browser_clients: [web()] })
    oauth({ web: { ...target, client_keys: { google: 'wbe' } } })
    const { code, stderr } = await run('link')
    expect([code, written()]).toEqual([1, []])
    expect(stderr).toContain('web: google has no client "wbe" for this target. The stack has:')
  })

  it('web is never inferred', async () => {
    await configure('google', { browser_clients: [web()] })
    oauth(undefined)
    write('stack/oauth/web.json', '{ "ref": "", "providers": {} }')
    const { code, stderr } = await run('link')
    expect([code, written()]).toEqual([0, []])
    expect(stderr).toContain('web: no target is named as "oauth.web" in stack/project.json. The stack has:')
  })

  const gradle = (more = '') => `android {\n  defaultConfig { applicationId "com.example.shop" }\n${more}}\n`
  const xcode = 'buildSettings = { PRODUCT_BUNDLE_IDENTIFIER = com.example.shop; };'

  it('a native target is inferred where the checkout identifies exactly one', async () => {
    await configure('google', {
      browser_clients: [web()],
      native_clients: [ios(), ios('debug', { variant: 'debug', bundle_id: 'com.example.shop.debug' }), android()],
    })
    oauth(undefined)
    expect(JSON.parse((await run('link')).stdout).snapshots).toEqual([])
    write('android/app/build.gradle', gradle())
    write('ios/Shop.xcodeproj/project.pbxproj', xcode)
    expect((await run('link')).code).toBe(0)
    expect(written()).toEqual(['android.json', 'ios.json'])
    expect(snapshot('ios')).toMatchObject(target)
  })

  it.each([
    ['several targets have its id', gradle(), 'several targets are registered for android/app/build.gradle'],
    ['flavors', gradle('productFlavors { free {} }\n'), 'has flavors, suffixes or a computed application id'],
    ['a suffix', gradle('buildTypes { debug { applicationIdSuffix ".debug" } }\n'), 'has flavors, suffixes'],
    ['a computed id', 'defaultConfig { applicationId rootProject.ext.id }', 'has flavors, suffixes'],
    ['no target has its id', gradle().replace('shop', 'other'), 'no client is registered for'],
  ])('no native target is inferred: %s', async (_why, text, sentence) => {
    const debug = android('debug', { variant: 'debug' })
    await configure('google', { browser_clients: [web()], native_clients: [android(), debug] })
    write('android/app/build.gradle', text)
    oauth(undefined)
    const { code, stderr } = await run('link')
    expect([code, written()]).toEqual([1, []])
    expect(stderr).toContain(sentence)
    expect(stderr).toContain('name the target as "oauth.android" in stack/project.json. The stack has:\n')
    oauth({ android: target })
    expect((await run('link')).code).toBe(0)
    expect(snapshot('android').providers.google.client_key).toBe('android')
  })
})

describe('a change of clients by the command line', () => {
  const linked = async () => {
    await configure('google', { browser_clients: [web()], native_clients: [ios()] })
    await configure('github', { browser_clients: [github()] })
    oauth({ web: target })
    await run('link')
  }

  it('makes the linked files anew, and no others', async () => {
    await linked()
    oauth(everywhere)
    const disabled = await run('auth', 'providers', 'disable', 'github')
    expect([disabled.code, disabled.stderr]).toEqual([0, 'orders/local\n  stack/oauth/web.json is written\n'])
    expect([written(), Object.keys(snapshot('web').providers)]).toEqual([['web.json'], ['google']])
    const cleared = await run('auth', 'providers', 'config', 'clear', 'google')
    expect([cleared.code, written()]).toEqual([0, []])
    const enabled = await run('auth', 'providers', 'enable', 'github')
    expect([enabled.code, written()]).toEqual([0, []])
  })

  it("leaves another stack's files as they are", async () => {
    await linked()
    const other = textOf('web').replace(shop.stack.record.ref, 'k3v9x0tqm')
    fs.writeFileSync(fileOf('web'), other)
    expect((await run('auth', 'providers', 'disable', 'github')).code).toBe(0)
    expect(textOf('web')).toBe(other)
  })

  it('that the files cannot follow: both facts, exit 1, and the old files', async () => {
    await linked()
    const before = textOf('web')
    const document = JSON.stringify({ browser_clients: [web(), web('other')] })
    const { code, stdout, stderr } = await run('auth', 'providers', 'config', 'set', 'google', '--json', document)
    expect([code, textOf('web')]).toEqual([1, before])
    expect(JSON.parse(stdout).browser_clients).toHaveLength(2)
    expect(stderr).toContain(
      'the stack has the change, but the files of stack/oauth could not be made anew:\nweb: google',
    )
    expect(stderr).toContain('Run `stack link` again')
    const { json } = await admin.call('GET', '/providers/google')
    expect(json.browser_clients).toHaveLength(2)
  })
})

describe('an environment', () => {
  const ref = 'k3v9x0tqm'
  const empty = () => temporaryProject({ 'stack/project.json': '{ "project": "shop" }' })

  it('is recorded under its ref or a name, without a call where nothing is linked', async () => {
    const root = empty()
    const named = await stack(['link', ref, '--name', 'staging', '--url', `https://${ref}.apps.example`], { cwd: root })
    expect([named.code, named.stderr]).toEqual([0, '  staging is recorded in stack/project.json\n'])
    expect(JSON.parse(named.stdout)).toMatchObject({ environment: 'staging', ref, snapshots: [] })
    const again = await stack(['link', ref], { cwd: root })
    expect([again.code, again.stderr]).toEqual([0, ''])
    const second = await stack(['link', 'aaaaaaaam'], { cwd: root })
    expect([second.code, JSON.parse(second.stdout).base_url]).toEqual([0, 'https://aaaaaaaam.apps.example'])
    expect(JSON.parse(fs.readFileSync(path.join(root, 'stack/project.json'), 'utf8')).environments).toEqual({
      staging: { ref, url: `https://${ref}.apps.example` },
      aaaaaaaam: { ref: 'aaaaaaaam', url: 'https://aaaaaaaam.apps.example' },
    })
  })

  it.each([
    ['no domain is known', ['link', ref], 2, 'the domain of the stack is not known: give the whole address by --url'],
    ['no ref', ['link', 'nonsense'], 2, '"nonsense" is no ref: it has eight characters of [a-z0-9], then m'],
    ['a name alone', ['link', '--name', 'staging'], 2, '--name goes with the ref of an environment'],
    ['two names', ['link', ref, '--env', 'local'], 2, 'a ref and --env both name the environment'],
    ['no https', ['link', ref, '--url', 'http://public.example'], 2, 'is not https'],
    ['no stack', ['link'], 3, 'no stack of this project runs here'],
  ] as const)('refused, and nothing is recorded: %s', async (_title, args, exit, sentence) => {
    const root = empty()
    const { code, stdout, stderr } = await stack([...args], { cwd: root })
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toContain(sentence)
    expect(fs.readFileSync(path.join(root, 'stack/project.json'), 'utf8')).toBe('{ "project": "shop" }')
  })

  it('that is recorded already keeps its name and its address', async () => {
    const root = empty()
    await stack(['link', ref, '--name', 'staging', '--url', 'https://staging.example'], { cwd: root })
    const renamed = await stack(['link', ref, '--name', 'other'], { cwd: root })
    expect([renamed.code, renamed.stderr]).toEqual([2, expect.stringContaining('is the environment "staging" already')])
    const moved = await stack(['link', ref, '--url', 'https://other.example'], { cwd: root })
    expect([moved.code, moved.stderr]).toEqual([2, expect.stringContaining('is https://staging.example already')])
  })
})

describe('--verify-android', () => {
  const client = { client_key: 'android', package_name: 'com.example.shop', signing_certificate_sha1: sha1 }
  const linked = (providers: object = { google: client }) =>
    temporaryProject({
      'stack/project.json': '{ "project": "shop" }',
      'stack/oauth/android.json': JSON.stringify({ ref: 'k3v9x0tqm', ...target, providers }),
    })
  const verify = (root: string, id: string, ...more: string[]) =>
    stack(['link', '--verify-android', id, ...more], { cwd: root })
  const colons = sha1.toUpperCase().replace(/..(?=.)/g, '$&:')

  it.each([[sha1], [colons]])('%s matches', async (given) => {
    const { code, stdout, stderr } = await verify(linked(), 'com.example.shop', given)
    expect([code, stdout, stderr]).toEqual([0, '', ''])
  })

  it.each([
    ['another id', 'com.example.shop.debug', sha1, 'this build is com.example.shop.debug, and the client "android"'],
    ['another certificate', 'com.example.shop', '0'.repeat(40), `this build is signed by ${'0'.repeat(40)}`],
  ])('%s: exit 1 with what to do', async (_what, id, given, sentence) => {
    const { code, stdout, stderr } = await verify(linked(), id, given)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(sentence)
    expect(stderr).toContain('run `stack link`')
  })

  it('a client without a certificate is compared by its id alone', async () => {
    const microsoft = { client_key: 'android', package_name: 'com.example.shop' }
    expect((await verify(linked({ microsoft }), 'com.example.shop', '0'.repeat(40))).code).toBe(0)
    expect((await verify(linked({ microsoft }), 'com.example.other', sha1)).code).toBe(1)
  })

  it('without a snapshot: exit 1 with what to do', async () => {
    const root = temporaryProject({ 'stack/project.json': '{ "project": "shop" }' })
    const { code, stderr } = await verify(root, 'com.example.shop', sha1)
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no stack/oauth/android.json')])
  })

  it.each([[[]], [['da39']], [[`${sha1}0`]]])('%j is no SHA-1: exit 2', async (more) => {
    const { code, stderr } = await verify(linked(), 'com.example.shop', ...more)
    expect([code, stderr]).toEqual([2, expect.stringContaining('the SHA-1 of the signing certificate is')])
  })
})

describe('the Gradle task', () => {
  const { status, error } = spawnSync('gradle', ['--version'])
  const hasGradle = !error && status === 0
  if (!hasGradle) process.stderr.write('the Gradle task is skipped: gradle is not installed here\n')

  it.skipIf(!hasGradle)(
    'checks the id and the certificate of a build, and fails it where they do not match',
    async () => {
      const root = temporaryProject({ 'stack/project.json': '{ "project": "shop" }' })
      const app = path.join(root, 'android/app')
      fs.mkdirSync(app, { recursive: true })
      const keytool = ['-genkeypair', '-keystore', 'release.jks', '-storepass', 'password', '-alias', 'release']
      const made = spawnSync('keytool', [...keytool, '-keyalg', 'RSA', '-dname', 'CN=Shop'], { cwd: app })
      expect(made.status).toBe(0)
      const certificate = spawnSync(
        'keytool',
        ['-exportcert', '-keystore', 'release.jks', '-storepass', 'password', '-alias', 'release'],
        { cwd: app },
      ).stdout
      const digest = createHash('sha1').update(certificate).digest('hex')
      const client = { client_key: 'android', package_name: 'com.example.shop', signing_certificate_sha1: digest }
      fs.mkdirSync(path.join(root, 'stack/oauth'))
      fs.writeFileSync(
        path.join(root, 'stack/oauth/android.json'),
        JSON.stringify({ ref: 'k3v9x0tqm', ...target, providers: { google: client } }),
      )
      const command = JSON.stringify([process.execPath, path.join(packageRoot, 'bin/stack.cjs')])
      const task = (name: string, id: string, signing: string) =>
        `task ${name}(type: ext.VerifyStackLink) { applicationId = '${id}'; ${signing} }\n`
      const signed = `keystore = file('release.jks'); keystorePassword = 'password'; keyAlias = 'release'`
      fs.writeFileSync(path.join(root, 'android/settings.gradle'), "include ':app'\n")
      fs.writeFileSync(
        path.join(app, 'build.gradle'),
        `ext.stackCommand = ${command}
apply from: '${path.join(packageRoot, 'docs/gradle/stack-link.gradle')}'
${task('matching', 'com.example.shop', signed)}${task('suffixed', 'com.example.shop.debug', signed)}${task(
  'resigned',
  'com.example.shop',
  `certificateSha1 = '${'00:'.repeat(19)}00'`,
)}${task('unsigned', 'com.example.shop', '')}`,
      )
      const gradle = (...tasks: string[]) =>
        startProcess('gradle', ['--offline', '--no-daemon', '-q', '--continue', ...tasks], path.join(root, 'android'), {
          GRADLE_USER_HOME: path.join(root, '.gradle-home'),
        }).finished
      expect(await gradle(':app:matching')).toMatchObject({ code: 0 })
      const { code, stderr } = await gradle(':app:suffixed', ':app:resigned', ':app:unsigned')
      expect(code).not.toBe(0)
      expect(stderr).toContain('this build is com.example.shop.debug, and the client "android" of google')
      expect(stderr).toContain(`this build is signed by ${'0'.repeat(40)}`)
      expect(stderr).toContain('no signing certificate is known for com.example.shop')
      expect(stderr).not.toContain(':app:matching')
    },
  )
})
