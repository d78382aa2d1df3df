/** Classes and decorators as such: where they stand, and whether the worker could import them. */
import { nearest } from '../../src/wire/nearest.ts'
import type { Application } from '../application.ts'
import {
  type ClassDeclaration,
  type ClassRole,
  decoratorNames,
  injectors,
  type Mark,
  type Member,
  methods,
  roles,
} from '../declaration.ts'
import { type Refusal, refusal } from '../refusals.ts'

const isRole = (name: string): name is ClassRole => (roles as readonly string[]).includes(name)
const isMethod = (name: string) => Object.hasOwn(methods, name)
const isInjector = (name: string) => (injectors as readonly string[]).includes(name)

export function refuseDeclarations({ declarations }: Application): Refusal[] {
  const { syntaxErrors, classes, strayMarks, markValues, unimported, lostImports } = declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const refused = [
    ...classes.flatMap(refuseClass),
    ...refuseMarks(strayMarks, ({ name }) => belongsOf(name)),
    ...lostImports.map(({ specifier, place }) => refusal('import-lost', place, { specifier })),
    ...unimported.map(({ name, place }) => refusal('decorator-not-imported', place, { name })),
    ...markValues.map(({ name, place }) => refusal('decorator-as-value', place, { name })),
  ].filter(({ place }) => !unparsed.has(place.file))
  const unreadable = syntaxErrors.map(({ message, place }) =>
    refusal('syntax-error', place, { reason: message.replace(/\.$/, '') }),
  )
  return [...unreadable, ...refused]
}

function refuseClass(declaration: ClassDeclaration): Refusal[] {
  const { name, place, marks, members } = declaration
  const own = marks.filter((mark) => isRole(mark.name))
  const refused: Refusal[] = [
    ...refuseMarks(marks, (mark) => (isRole(mark.name) ? undefined : belongsOf(mark.name))),
    ...members.flatMap((member) => refuseMember(declaration, member)),
  ]
  const [role] = own
  if (!role) return refused
  const distinct = own.filter((mark, index) => own.findIndex((other) => other.name === mark.name) === index)
  const rival = distinct.find((mark) => mark !== role && mark.name !== 'Injectable' && role.name !== 'Injectable')
  if (rival) {
    const related = [{ message: 'and here', place: rival.place }]
    const roleNames = `@${role.name} and @${rival.name}`
    refused.push(refusal('class-with-two-roles', role.place, { name, roles: roleNames }, related))
  }
  if (declaration.isDefaultExport) refused.push(refusal('default-export', place, { name }))
  else if (declaration.exportName === undefined) refused.push(refusal('class-not-exported', place, { name }))
  if (declaration.isAbstract) refused.push(refusal('class-abstract', place, { name, role: role.name }))
  return refused
}

function refuseMember({ name: className, marks, memberNames }: ClassDeclaration, member: Member): Refusal[] {
  const has = (role: ClassRole) => marks.some(({ name }) => name === role)
  const refused = refuseMarks(member.marks, ({ name }) => {
    if (isMethod(name) && has('Controller')) return undefined
    return name === 'On' && has('Webhook') ? undefined : belongsOf(name)
  })
  const isHandler = member.marks.length > 0
  for (const parameter of member.parameters) {
    refused.push(
      ...refuseMarks(parameter.marks, ({ name }) => (isInjector(name) && isHandler ? undefined : belongsOf(name))),
    )
  }
  if (isHandler && member.unfit) {
    const reason = member.unfit === 'abstract' ? 'without a body' : member.unfit
    refused.push(refusal('handler-unfit', member.place, { name: member.name, reason }))
  }
  if (isHandler && memberNames.filter((name) => name === member.name).length > 1) {
    refused.push(refusal('handler-twice', member.place, { name: member.name, className }))
  }
  return refused
}

/** @param misplaced says where a decorator belongs that does not belong here. */
function refuseMarks(marks: readonly Mark[], misplaced: (mark: Mark) => string | undefined): Refusal[] {
  return marks.flatMap((mark, index) => {
    const { name, place, isCalled } = mark
    if (!decoratorNames.has(name)) {
      return [refusal('decorator-unknown', place, { name, near: nearest(name, [...decoratorNames]) })]
    }
    const belongs = misplaced(mark)
    if (belongs !== undefined) return [refusal('decorator-misplaced', place, { name, belongs })]
    if (!isCalled) return [refusal('decorator-not-called', place, { name, form: forms[name] ?? `@${name}()` })]
    const first = marks.findIndex((other) => other.name === name)
    if (first !== index && name !== 'On' && !isMethod(name)) {
      return [
        refusal('decorator-twice', place, { name }, [{ message: 'the first is here', place: marks[first]!.place }]),
      ]
    }
    return []
  })
}

/** How a decorator is called that cannot be called with nothing. */
const forms: Record<string, string> = {
  Webhook: "@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })",
  Module: '@Module({ controllers: [], providers: [] })',
  On: "@On('invoice.paid')",
  Param: "@Param('id')",
  Query: "@Query('page')",
  Header: "@Header('x-name')",
}

function belongsOf(name: string): string {
  if (isRole(name)) return 'a class at the top of a file'
  if (name === 'On') return 'a method of a class with @Webhook'
  return isMethod(name) ? 'a method of a class with @Controller' : "a parameter of a route's handler"
}
