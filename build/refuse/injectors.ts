/** Parameters of handlers: each receives one thing that its route has. */
import { nearest } from '../../src/wire/nearest.ts'
import type { Application } from '../application.ts'
import { hasRole, injectors, text } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { type DeclaredRoute, routesOf } from '../routes.ts'
import { type Form, refuseArguments } from './options.ts'

/** The injectors that take a name. */
const named: Record<string, string> = { Param: "@Param('id')", Query: "@Query('page')", Header: "@Header('x-name')" }

export function refuseInjectors({ declarations }: Application): Refusal[] {
  return declarations.classes
    .filter((declaration) => hasRole(declaration, 'Controller'))
    .flatMap(routesOf)
    .flatMap(refuseHandler)
}

function refuseHandler({ member, mark, method, path }: DeclaredRoute): Refusal[] {
  const refused: Refusal[] = []
  const [body, second] = member.parameters.flatMap(({ marks }) => marks.filter(({ name }) => name === 'Body'))
  if (body && (method === 'GET' || method === 'DELETE')) {
    refused.push(refusal('body-on-bodyless-route', body.place, { method }))
  }
  const names = path?.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []))
  for (const { marks } of member.parameters) {
    for (const {
      name: injector,
      arguments: [argument],
    } of marks) {
      const asked = injector === 'Param' ? text(argument) : undefined
      if (asked === undefined || !names || names.includes(asked)) continue
      const near = nearest(asked, names) ?? names[0]
      refused.push(refusal('path-parameter-unknown', argument!.place, { name: asked, path: path!, near }))
    }
  }
  if (member.marks[0] !== mark) return refused // what does not depend on the route is said once
  if (second)
    refused.push(refusal('body-twice', second.place, {}, [{ message: 'the first is here', place: body!.place }]))
  for (const { name: parameter, place, marks } of member.parameters) {
    const [first, ...others] = marks
    if (!first) refused.push(refusal('parameter-without-injector', place, { name: parameter }))
    const other = others.find(({ name }) => name !== first!.name)
    if (other) {
      const related = [{ message: 'the first is here', place: first!.place }]
      refused.push(refusal('parameter-with-two-injectors', other.place, { name: parameter }, related))
    }
    for (const one of marks) {
      if ((injectors as readonly string[]).includes(one.name)) refused.push(...refuseArguments(one, formsOf(one.name)))
    }
  }
  return refused
}

function formsOf(injector: string): { form: Form; what: string; required?: string }[] {
  const required = named[injector]
  return required === undefined ? [] : [{ form: { is: 'string' }, what: 'a name', required }]
}
