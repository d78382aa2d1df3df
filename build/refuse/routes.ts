/** Checks paths: they are well-formed, no other part of the stack answers there, and each request matches one route. */
import { type Application, listings } from '../application.ts'
import { type ClassDeclaration, type Decorator, decoratorOf, hasRole, type Span } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { type DeclaredRoute, joinPath, malformation, pathOf, routesOf } from '../routes.ts'
import type { BuildContext, Reserved } from './context.ts'
import { once } from './once.ts'
import { checkArguments, type Form } from './options.ts'

const pathArgument = { form: { is: 'string' } as Form, what: 'the path' }
const rule: Form = { is: 'anything' } // `gates.ts` checks it
const limit: Form = {
  is: 'record',
  keys: {
    requests: { is: 'number', from: 1, to: 1_000_000 },
    seconds: { is: 'one of', values: [10, 60] }, // the platform's two periods
    by: { is: 'one of', values: ['user', 'ip'] },
  },
  required: { requests: 'requests: 100', seconds: 'seconds: 60', by: "by: 'user'" },
}
/** In bytes: the platform takes requests of at most 100 MiB. */
const maxBodyBytes: Form = { is: 'number', from: 1, to: 104_857_600 }
const controllerOptions: Form = { is: 'record', keys: { auth: rule, limit, maxBodyBytes } }
const routeOptions: Form = {
  is: 'record',
  keys: { auth: rule, limit, maxBodyBytes, status: { is: 'number', from: 200, to: 299, not: [204, 205] } },
}

export function checkRoutes(application: Application, context: BuildContext): Refusal<Span>[] {
  const controllers = application.declarations.classes.filter((declaration) => hasRole(declaration, 'Controller'))
  const refused = controllers.flatMap((controller) => [
    ...checkInherited(application, controller),
    ...checkController(controller, application, context),
  ])
  const mounted = new Set(listings(application, 'controllers').map(({ declaration }) => declaration))
  return [...refused, ...checkConflicts([...mounted].flatMap(routesOf))]
}

/** The build reads routes only from the class that declares them, so a subclass would not serve them. */
function checkInherited({ byId }: Application, { name, base }: ClassDeclaration): Refusal<Span>[] {
  for (let at = base && byId.get(base.id), depth = 0; at && depth < 20; at = at.base && byId.get(at.base.id), depth++) {
    const [first] = hasRole(at, 'Controller') ? routesOf(at) : []
    if (!first) continue
    const related = [{ message: 'such a route', place: first.decorator.place }]
    return [refusal('routes-inherited', base!.place, { name, base: at.name }, related)]
  }
  return []
}

const checkController = once((controller, _application, { reserved }) => {
  const decorator = decoratorOf(controller, 'Controller')!
  const base = pathOf(decorator)
  const refused = checkArguments(decorator, [pathArgument, { form: controllerOptions, what: 'the options' }])
  refused.push(...checkPath(decorator, base))
  const taken = base === undefined ? undefined : reservedAt(joinPath(base, ''), reserved)
  if (taken) refused.push(reservedRefusal(decorator, joinPath(base!, ''), taken))
  for (const { decorator: route, path } of routesOf(controller)) {
    refused.push(...checkArguments(route, [pathArgument, { form: routeOptions, what: 'the options' }]))
    refused.push(...checkPath(route, pathOf(route)))
    const owner = taken || path === undefined ? undefined : reservedAt(path, reserved)
    if (owner) refused.push(reservedRefusal(route, path!, owner))
    const names = path?.split('/').filter((segment) => segment.startsWith(':')) ?? []
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice) refused.push(malformedRefusal(route, path!, `the parameter "${twice}" stands in it twice`))
  }
  return refused
})

function checkPath(decorator: Decorator, path: string | undefined): Refusal<Span>[] {
  const reason = path === undefined ? undefined : malformation(path)
  return reason === undefined ? [] : [malformedRefusal(decorator, path!, reason)]
}

function malformedRefusal(decorator: Decorator, path: string, reason: string): Refusal<Span> {
  return refusal('path-malformed', (decorator.arguments[0] ?? decorator).place, { path, reason })
}

function reservedRefusal(decorator: Decorator, path: string, { path: prefix, owner }: Reserved): Refusal<Span> {
  return refusal('path-reserved', (decorator.arguments[0] ?? decorator).place, { path, reserved: prefix, owner })
}

/** A path whose parameter could match the reserved segment is accepted: the stack matches the reserved path first. */
function reservedAt(path: string, reserved: readonly Reserved[]): Reserved | undefined {
  return reserved.find((prefix) => path === prefix.path || path.startsWith(`${prefix.path}/`))
}

function checkConflicts(routes: readonly DeclaredRoute[]): Refusal<Span>[] {
  const byShape = new Map<string, DeclaredRoute>()
  return routes.flatMap((route) => {
    if (route.path === undefined) return []
    const shape = `${route.method} ${route.path.replace(/:[^/]+/g, ':')}`
    const first = byShape.get(shape)
    if (!first) {
      byShape.set(shape, route)
      return []
    }
    const related = [{ message: 'the first is here', place: first.decorator.place }]
    const [name, other] = [`${route.method} ${route.path}`, `${first.method} ${first.path}`]
    return route.path === first.path
      ? [refusal('route-twice', route.decorator.place, { route: name }, related)]
      : [refusal('route-ambiguous', route.decorator.place, { route: name, other }, related)]
  })
}
