/** Parameters of handlers: each receives one thing that its route has. */
import { nearest } from '../../src/wire/nearest.ts'
import type { Application } from '../application.ts'
import { hasRole, text } from '../declaration.ts'
import { type DeclaredRoute, routesOf } from '../link/routes.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { type Form, refuseArguments } from './options.ts'

const name = [{ form: { is: 'string' } as Form, what: 'the name', required: "'name'" }]

/** Every injector with its arguments. */
export const injectors: Record<string, Parameters<typeof refuseArguments>[1]> = {
  Param: name,
  Query: name,
  Header: name,
  Body: [],
  Req: [],
  User: [],
  OptionalUser: [],
  RequestId: [],
  TraceId: [],
  Client: [],
}

export function refuseInjectors({ declarations }: Application): Refusal[] {
  return declarations.classes
    .filter((declaration) => hasRole(declaration, 'Controller'))
    .flatMap(routesOf)
    .flatMap(refuseHandler)
}

function refuseHandler({ member, mark, method, path }: DeclaredRoute): Refusal[] {
  const isFirst = member.marks.find(({ name }) => name === mark.name) === mark && member.marks[0] === mark
  const refused: Refusal[] = []
  const bodies = member.parameters.flatMap(({ marks }) => marks.filter((one) => one.name === 'Body'))
  for (const body of bodies) {
    if (method === 'GET' || method === 'DELETE') refused.push(refusal('body-on-bodyless-route', body.place, { method }))
  }
  const names = path?.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []))
  for (const { marks } of member.parameters) {
    for (const {
      name: injector,
      arguments: [argument],
    } of marks) {
      const asked = injector === 'Param' ? text(argument) : undefined
      if (asked === undefined || !names || names.includes(asked)) continue
      refused.push(
        refusal('path-parameter-unknown', argument!.place, {
          name: asked,
          path: path!,
          near: nearest(asked, names) ?? names[0],
        }),
      )
    }
  }
  if (!isFirst) return refused // what does not depend on the route is said once
  if (bodies.length > 1) refused.push(refusal('body-twice', bodies[1]!.place, {}))
  for (const { name: parameter, place, marks } of member.parameters) {
    if (marks.length === 0) refused.push(refusal('parameter-without-injector', place, { name: parameter }))
    if (marks.length > 1) refused.push(refusal('parameter-with-two-injectors', marks[1]!.place, { name: parameter }))
    for (const one of marks) refused.push(...refuseArguments(one, injectors[one.name] ?? []))
  }
  return refused
}
