/** The rule in force for a route, and the rules and paths that are refused (contract 4.1 to 4.6), without a bundle. */
import { describe, expect, it } from 'vitest'
import { applicationOf } from '../../build/application.ts'
import { decoratorOf } from '../../build/declaration.ts'
import { resolveGate } from '../../build/gates.ts'
import { Program } from '../../build/program.ts'
import { createReader } from '../../build/read/index.ts'
import { checkApplication } from '../../build/refuse/index.ts'
import { routesOf } from '../../build/routes.ts'
import { declaredRole, targetOf, temporaryProject } from '../support/project.ts'

interface Written {
  /** The options of the module, the controller and the route, as source. */
  application?: string
  controller?: string
  route?: string
  /** The path of the controller, and the decorator of the route with its path. */
  at?: string
  method?: string
  parameters?: string
}

function applicationWith({ application, controller, route, at = 'a', method = `Get('x'`, parameters = '' }: Written) {
  const options = (text: string | undefined) => (text === undefined ? '' : `, ${text}`)
  const source = `import { Body, Controller, Delete, Get, Module, OptionalUser, Param, Post } from '@stack/backend'
@Controller('${at}'${options(controller)})
export class A {
  @${method}${options(route)}) x(${parameters}) {
    return 1
  }
}
@Module({ controllers: [A]${options(application)} }) export class AppModule {}
`
  const root = temporaryProject({ 'src/app.module.ts': source })
  return applicationOf(createReader(new Program(root, 'src/app.module.ts'))())
}

const { reserved } = targetOf('/')

function refused(written: Written, administered?: readonly string[]): string[] {
  const context = { reserved, roles: [declaredRole('staff')], administered }
  return checkApplication(applicationWith(written), context as never).map(({ slug }) => slug)
}

function gateOf(written: Written) {
  const application = applicationWith(written)
  const controller = application.declarations.classes.find((one) => decoratorOf(one, 'Controller'))!
  return resolveGate(application.roots[0], controller, routesOf(controller)[0]!.decorator).gate
}

describe('4.3 the rule in force is that of the most specific level', () => {
  const staff = `{ auth: { role: 'staff' } }`

  it.each([
    ['nothing', {}, { required: true, decidedBy: 'default' }],
    ['the application', { application: 'auth: false' }, { required: false, decidedBy: 'application' }],
    [
      'the controller',
      { application: 'auth: false', controller: staff },
      { required: true, role: 'staff', decidedBy: 'controller' },
    ],
    ['the route', { controller: staff, route: '{ auth: false }' }, { required: false, decidedBy: 'route' }],
    [
      'a stricter route',
      { controller: '{ auth: false }', route: staff },
      { required: true, role: 'staff', decidedBy: 'route' },
    ],
    [
      'options without a rule',
      { controller: staff, route: '{ status: 201 }' },
      { required: true, role: 'staff', decidedBy: 'controller' },
    ],
  ])('%s', (_name, written, gate) => {
    expect(gateOf(written)).toEqual(gate)
  })
})

describe('4.1 what a rule says', () => {
  it.each([
    ['true', { required: true }],
    ['false', { required: false }],
    ['{}', { required: true }],
    ['{ required: true }', { required: true }],
    ['{ required: false }', { required: false }],
    [`{ role: 'staff', permission: 'orders.read' }`, { required: true, role: 'staff', permission: 'orders.read' }],
    ['{ verifiedEmail: true }', { required: true, verifiedEmail: true }],
    ['{ verifiedEmail: false }', { required: true }],
    ['{ device: true }', { required: true, device: true }],
    [`{ device: 'once', role: 'staff' }`, { required: true, role: 'staff', device: 'once' }],
    ['{ serviceRole: true }', { required: true, serviceRole: true }],
    [`{ serviceRole: 'key' }`, { required: true, serviceRole: 'key' }],
    [`{ serviceRole: 'other' }`, { required: true }],
  ])('%s', (rule, gate) => {
    expect(gateOf({ route: `{ auth: ${rule} }` })).toEqual({ ...gate, decidedBy: 'route' })
  })
})

describe('a rule that is refused', () => {
  const rules: [string, string[]][] = [
    [`'staff'`, ['option-malformed']],
    ['1', ['option-malformed']],
    ['[]', ['option-malformed']],
    ['{ role: undefined }', ['option-malformed']],
    [`{ role: 'stuff' }`, ['role-unknown']],
    [`{ permission: 'orders' }`, ['permission-malformed']],
    [`{ permission: 'users.read' }`, ['permission-unknown']],
    [`{ required: false, role: 'staff' }`, ['gate-never-admits-anonymous']],
    [`{ required: false, permission: 'orders.read' }`, ['gate-never-admits-anonymous']],
    ['{ required: false, verifiedEmail: true }', ['gate-never-admits-anonymous']],
    ['{ required: false, verifiedEmail: false }', []],
    ['{ required: false, device: true }', ['gate-never-admits-anonymous']],
    [`{ required: false, device: 'once' }`, ['gate-never-admits-anonymous']],
    ['{ device: false }', ['option-malformed']],
    [`{ device: 'twice' }`, ['option-malformed']],
    [`{ device: 'once', verifiedEmail: true }`, []],
    [`{ role: 'staff', permission: 'orders.read', verifiedEmail: true }`, []],
  ]

  it.each(rules)('%s: %j, on each level', (rule, slugs) => {
    const auth = `auth: ${rule}`
    const found = [{ application: auth }, { controller: `{ ${auth} }` }, { route: `{ ${auth} }` }].map((one) => [
      ...new Set(refused(one)),
    ])
    expect(found).toEqual([slugs, slugs, slugs])
  })
})

describe('4.6 a route below an administered path', () => {
  it.each([
    ['admin', [`management-route-unguarded`]],
    ['admin/users', [`management-route-unguarded`]],
    ['administration', []],
  ])('%s: %j', (at, slugs) => {
    expect(refused({ at, method: `Get(''`, controller: '{ auth: true }' }, ['/admin'])).toEqual(slugs)
    expect(refused({ at, method: `Get(''`, controller: '{ auth: { serviceRole: true } }' }, ['/admin'])).toEqual([])
  })
})

describe('a path that is refused', () => {
  it.each([
    ['auth', `Get('x'`, ['path-reserved']],
    ['', `Get('auth'`, ['path-reserved']],
    ['', `Get('auth/x'`, ['path-reserved']],
    ['webhooks', `Get(''`, ['path-reserved']],
    ['authors', `Get('x'`, []],
    ['a', `Get(':id/:id'`, ['path-malformed']],
  ])('%s, %s): %j', (at, method, slugs) => {
    const parameters = method.includes(':') ? `@Param('id') id: string` : ''
    expect([...new Set(refused({ at, method, parameters }))]).toEqual(slugs)
  })

  it('so is a body limit that the platform does not have', () => {
    const limited = (maxBodyBytes: number) => refused({ route: `{ maxBodyBytes: ${maxBodyBytes} }` })
    expect([limited(104_857_600), limited(104_857_601), limited(0)]).toEqual([
      [],
      ['option-malformed'],
      ['option-malformed'],
    ])
  })
})

describe('a body of a method that has none', () => {
  it.each([
    ['Get', ['body-on-bodyless-route']],
    ['Delete', ['body-on-bodyless-route']],
    ['Post', []],
  ])('%s: %j', (method, slugs) => {
    expect(refused({ method: `${method}('x'`, parameters: '@Body() body: unknown' })).toEqual(slugs)
  })
})
