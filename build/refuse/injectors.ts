/** Checks the parameters of handlers: each has one injector, and its route has what the injector names. */
import { nearest } from '../../src/wire/nearest.ts'
import { type Application, hasForeignDecorator } from '../application.ts'
import { type Decorator, hasRole, injectors, type Member, methods, type Span, text } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { type DeclaredRoute, parametersOf, routesOf } from '../routes.ts'
import { isWholeQuery } from '../schemas.ts'
import type { BuildContext } from './context.ts'
import { once } from './once.ts'
import { checkArguments, type Form } from './options.ts'

/** Example calls of the injectors that take a name. */
const named: Record<string, string> = {
  Param: "@Param('id')",
  Query: "@Query('page')`, or for all of it `@Query(schema)",
  Header: "@Header('x-name')",
}

export function checkInjectors(application: Application, context: BuildContext): Refusal<Span>[] {
  return application.declarations.classes
    .filter((declaration) => hasRole(declaration, 'Controller'))
    .flatMap((controller) => checkHandlers(controller, application, context))
}

const checkHandlers = once((controller, application) => {
  return routesOf(controller).flatMap((route) => checkHandler(route, application))
})

function checkHandler(
  { controller, member, decorator, method, path }: DeclaredRoute,
  application: Application,
): Refusal<Span>[] {
  const refused: Refusal<Span>[] = []
  const [body, second] = member.parameters.flatMap(({ decorators }) => decorators.filter(({ name }) => name === 'Body'))
  if (body && (method === 'GET' || method === 'DELETE')) {
    refused.push(refusal('body-on-bodyless-route', body.place, { method }))
  }
  const names = path === undefined ? undefined : parametersOf(path)
  const read = member.parameters.flatMap(({ decorators }) =>
    decorators.flatMap((one) => (one.name === 'Param' ? [text(one.arguments[0])] : [])),
  )
  for (const { decorators } of member.parameters) {
    for (const {
      name: injector,
      arguments: [argument],
    } of decorators) {
      const asked = injector === 'Param' ? text(argument) : undefined
      if (asked === undefined || !names || names.includes(asked)) continue
      const unread = names.filter((name) => !read.includes(name))
      const resembled = nearest(asked, unread)
      const near = unread.length === 1 ? unread[0] : resembled
      const mistaken = read.filter((name) => name !== undefined && !names.includes(name))
      const isAlone = mistaken.length === 1 && routeDecorators(member).length === 1
      // a name that resembles the asked one is a slip. With any other name the path may be wrong
      const isExact = resembled === near && isAlone && !('isElsewhere' in argument!)
      const edits = isExact ? [{ place: argument!.place, text: `'${near}'` }] : []
      refused.push(refusal('path-parameter-unknown', argument!.place, { name: asked, path: path!, near }, [], edits))
    }
  }
  refused.push(...checkUnread(member, decorator, path, names ?? [], read))
  if (member.decorators[0] !== decorator) return refused // the checks below do not depend on the route
  if (second)
    refused.push(refusal('body-twice', second.place, {}, [{ message: 'the first is here', place: body!.place }]))
  const isForeign = hasForeignDecorator(application, controller, member)
  for (const { name: parameter, place, decorators } of member.parameters) {
    const [first, ...others] = decorators
    if (!first && !isForeign) refused.push(refusal('parameter-without-injector', place, { name: parameter }))
    const other = others.find(({ name }) => name !== first!.name)
    if (other) {
      const related = [{ message: 'the first is here', place: first!.place }]
      refused.push(refusal('parameter-with-two-injectors', other.place, { name: parameter }, related))
    }
    for (const one of decorators) {
      if ((injectors as readonly string[]).includes(one.name))
        refused.push(...checkArguments(one, formsOf(one, names ?? [])))
    }
  }
  return refused
}

function routeDecorators({ decorators }: Member): Decorator[] {
  return decorators.filter(({ name }) => Object.hasOwn(methods, name))
}

/**
 * Checks that the handler takes each parameter of the path. Through `@Req()` a handler can read every parameter, and a name
 * that the build cannot compute may be any of them.
 */
function checkUnread(
  member: Member,
  decorator: Decorator,
  path: string | undefined,
  names: readonly string[],
  read: readonly (string | undefined)[],
): Refusal<Span>[] {
  const decorators = member.parameters.flatMap((parameter) => parameter.decorators)
  const isSaid = member.parameters.some((parameter) => parameter.decorators.length === 0)
  if (isSaid || path === undefined || read.includes(undefined) || decorators.some(({ name }) => name === 'Req'))
    return []
  const isMistaken = read.some((name) => !names.includes(name!)) // refused already, with the name that it resembles
  const unread = isMistaken ? [] : names.filter((name) => !read.includes(name))
  return unread.map((name) =>
    refusal('path-parameter-unused', (decorator.arguments[0] ?? decorator).place, { name, path }),
  )
}

function formsOf(
  { name: injector, arguments: [first] }: Decorator,
  names: readonly string[],
): { form: Form; what: string; required?: string }[] {
  const schema = { form: { is: 'anything' } as Form, what: 'the schema' }
  if (injector === 'Body' || (injector === 'Query' && isWholeQuery(first))) return [schema]
  const isOfPath = injector === 'Param' && names.length > 0
  const required = isOfPath ? names.map((name) => `@Param('${name}')`).join('` and `') : named[injector]
  return required === undefined ? [] : [{ form: { is: 'string' }, what: 'a name', required }, schema]
}
