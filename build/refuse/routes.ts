/** Paths: well-formed, not somebody else's, and each request meets one route. */
import { type Application, listings } from '../application.ts'
import { type ClassDeclaration, hasRole, type Mark, markOf } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { type DeclaredRoute, joinPath, malformation, pathOf, routesOf } from '../routes.ts'
import type { Circumstances, Reserved } from './index.ts'
import { type Form, refuseArguments } from './options.ts'

const pathArgument = { form: { is: 'string' } as Form, what: 'the path' }
const rule: Form = { is: 'anything' } // judged with the other gates
const controllerOptions: Form = { is: 'record', keys: { auth: rule } }
const routeOptions: Form = {
  is: 'record',
  keys: { auth: rule, status: { is: 'number', from: 200, to: 299, not: [204, 205] } },
}

export function refuseRoutes(application: Application, { reserved }: Circumstances): Refusal[] {
  const controllers = application.declarations.classes.filter((declaration) => hasRole(declaration, 'Controller'))
  const refused = controllers.flatMap((controller) => refuseController(controller, reserved))
  const mounted = new Set(listings(application, 'controllers').map(({ declaration }) => declaration))
  return [...refused, ...refuseConflicts([...mounted].flatMap(routesOf))]
}

function refuseController(controller: ClassDeclaration, reserved: readonly Reserved[]): Refusal[] {
  const mark = markOf(controller, 'Controller')!
  const base = pathOf(mark)
  const refused = refuseArguments(mark, [pathArgument, { form: controllerOptions, what: 'the options' }])
  refused.push(...refusePath(mark, base))
  const taken = base === undefined ? undefined : reservedAt(joinPath(base, ''), reserved)
  if (taken) refused.push(reservedRefusal(mark, joinPath(base!, ''), taken))
  for (const { mark: route, path } of routesOf(controller)) {
    refused.push(...refuseArguments(route, [pathArgument, { form: routeOptions, what: 'the options' }]))
    refused.push(...refusePath(route, pathOf(route)))
    const owner = taken || path === undefined ? undefined : reservedAt(path, reserved)
    if (owner) refused.push(reservedRefusal(route, path!, owner))
    const names = path?.split('/').filter((segment) => segment.startsWith(':')) ?? []
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice) refused.push(malformed(route, path!, `the parameter "${twice}" stands in it twice`))
  }
  return refused
}

function refusePath(mark: Mark, path: string | undefined): Refusal[] {
  const reason = path === undefined ? undefined : malformation(path)
  return reason === undefined ? [] : [malformed(mark, path!, reason)]
}

function malformed(mark: Mark, path: string, reason: string): Refusal {
  return refusal('path-malformed', (mark.arguments[0] ?? mark).place, { path, reason })
}

function reservedRefusal(mark: Mark, path: string, { path: prefix, owner }: Reserved): Refusal {
  return refusal('path-reserved', (mark.arguments[0] ?? mark).place, { path, reserved: prefix, owner })
}

/** A parameter that could stand for the reserved segment is fine: the reserved path is matched before it. */
function reservedAt(path: string, reserved: readonly Reserved[]): Reserved | undefined {
  return reserved.find((prefix) => path === prefix.path || path.startsWith(`${prefix.path}/`))
}

function refuseConflicts(routes: readonly DeclaredRoute[]): Refusal[] {
  const byShape = new Map<string, DeclaredRoute>()
  return routes.flatMap((route) => {
    if (route.path === undefined) return []
    const shape = `${route.method} ${route.path.replace(/:[^/]+/g, ':')}`
    const first = byShape.get(shape)
    if (!first) {
      byShape.set(shape, route)
      return []
    }
    const related = [{ message: 'the first is here', place: first.mark.place }]
    const [name, other] = [`${route.method} ${route.path}`, `${first.method} ${first.path}`]
    return route.path === first.path
      ? [refusal('route-twice', route.mark.place, { route: name }, related)]
      : [refusal('route-ambiguous', route.mark.place, { route: name, other }, related)]
  })
}
