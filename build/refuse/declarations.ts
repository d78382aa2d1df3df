/** Classes and decorators as such: where they stand, and whether the worker could import them. */
import { nearest } from '../../src/wire/nearest.ts'
import type { Application } from '../application.ts'
import { type ClassDeclaration, type Mark, roles } from '../declaration.ts'
import { methods } from '../link/routes.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { injectors } from './injectors.ts'

const known = [...roles, ...Object.keys(methods), 'On', ...Object.keys(injectors)]

export function refuseDeclarations({ declarations }: Application): Refusal[] {
  const unparsed = new Set(declarations.syntaxErrors.map(({ place }) => place.file))
  return [
    ...declarations.syntaxErrors.map(({ message, place }) => refusal('syntax-error', place, { reason: message })),
    ...declarations.classes.filter(({ file }) => !unparsed.has(file)).flatMap(refuseClass),
  ]
}

function refuseClass(declaration: ClassDeclaration): Refusal[] {
  const { name, place, marks, members } = declaration
  const own = marks.filter((mark) => (roles as readonly string[]).includes(mark.name))
  const refused: Refusal[] = [
    ...refuseMarks(marks, (mark) => (isRole(mark.name) ? undefined : belongsOf(mark.name))),
    ...members.flatMap((member) => [
      ...refuseMarks(member.marks, (mark) => {
        if (mark.name in methods && own.some((role) => role.name === 'Controller')) return undefined
        if (mark.name === 'On' && own.some((role) => role.name === 'Webhook')) return undefined
        return belongsOf(mark.name)
      }),
      ...member.parameters.flatMap((parameter) =>
        refuseMarks(parameter.marks, (mark) => (mark.name in injectors ? undefined : belongsOf(mark.name))),
      ),
      ...(member.unfit && member.marks.length > 0
        ? [refusal('handler-unfit', member.place, { name: member.name, reason: unfitness[member.unfit] })]
        : []),
    ]),
  ]
  const [role] = own
  if (!role) return refused
  const distinct = [...new Set(own.map((mark) => mark.name))].filter((one) => one !== 'Injectable' || own.length === 1)
  if (distinct.length > 1) {
    refused.push(
      refusal('class-with-two-roles', place, { name, roles: distinct.map((one) => `@${one}`).join(' and ') }),
    )
  }
  if (declaration.isDefaultExport) refused.push(refusal('default-export', place, { name }))
  else if (declaration.exportName === undefined) refused.push(refusal('class-not-exported', place, { name }))
  if (declaration.isAbstract) refused.push(refusal('class-abstract', place, { name, role: role.name }))
  return refused
}

const unfitness = {
  static: 'static',
  private: 'private',
  abstract: 'without a body',
  'not a method': 'not a method',
  'computed name': 'named by a computed key',
}

/** @param misplaced says where a decorator belongs that does not belong here. */
function refuseMarks(marks: readonly Mark[], misplaced: (mark: Mark) => string | undefined): Refusal[] {
  return marks.flatMap((mark, index) => {
    const { name, place, isCalled } = mark
    if (!known.includes(name)) return [refusal('decorator-unknown', place, { name, near: nearest(name, known) })]
    const belongs = misplaced(mark)
    if (belongs !== undefined) return [refusal('decorator-misplaced', place, { name, belongs })]
    if (!isCalled) return [refusal('decorator-not-called', place, { name })]
    const first = marks.findIndex((other) => other.name === name)
    if (first !== index && name !== 'On' && !(name in methods)) {
      return [
        refusal('decorator-twice', place, { name }, [{ message: 'the first is here', place: marks[first]!.place }]),
      ]
    }
    return []
  })
}

function isRole(name: string): boolean {
  return (roles as readonly string[]).includes(name)
}

function belongsOf(name: string): string {
  if (isRole(name)) return 'a class'
  if (name === 'On') return 'a method of a class with @Webhook'
  return name in methods ? 'a method of a class with @Controller' : "a parameter of a handler's method"
}
