/** Classes and decorators as such: where they stand, and whether the worker could import them. */
import { nearest } from '../../src/wire/nearest.ts'
import { type Application, hasForeignMark } from '../application.ts'
import {
  type ClassDeclaration,
  type ClassRole,
  decoratorNames,
  type ForeignMark,
  injectors,
  listed,
  type Mark,
  type Member,
  methods,
  type Place,
  roles,
  type Tsconfig,
} from '../declaration.ts'
import { insertion, sdkNameIn } from '../edits.ts'
import { type Edit, type Refusal, refusal } from '../refusals/index.ts'
import type { Circumstances } from './index.ts'
import { once } from './once.ts'

const isRole = (name: string): name is ClassRole => (roles as readonly string[]).includes(name)
const isMethod = (name: string) => Object.hasOwn(methods, name)
const isInjector = (name: string) => (injectors as readonly string[]).includes(name)

export function refuseDeclarations(application: Application, circumstances: Circumstances): Refusal<Place>[] {
  const { syntaxErrors, classes, strayMarks, markValues, unimported, foreignMarks, lostImports } =
    application.declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const refused = [
    ...refuseTsconfig(application.declarations.tsconfig),
    ...classes.flatMap((declaration) => refuseClass(declaration, application, circumstances)),
    ...refuseMarks(strayMarks, ({ name }) => belongsOf(name)),
    ...lostImports.map(({ specifier, place }) => refusal('import-lost', place, { specifier })),
    ...unimported.map(({ name, place }) =>
      refusal('decorator-not-imported', place, { name }, [], sdkNameIn(application, place.file, name)?.edits),
    ),
    ...foreignMarks
      .filter((mark) => isMeant(application, mark))
      .map(({ name, from, place }) => refusal('decorator-foreign', place, { name, from })),
    ...markValues.map(({ name, place }) => refusal('decorator-as-value', place, { name })),
  ].filter(({ place }) => !unparsed.has(place.file))
  const unreadable = syntaxErrors.map(({ message, place }) =>
    refusal('syntax-error', place, { reason: message.replace(/\.$/, '') }),
  )
  return [...unreadable, ...refused]
}

/**
 * A class that has a role is meant to be read, and one that a module lists; there a decorator of the project's own may be
 * just that.
 */
function isMeant({ byId, modules }: Application, { classId: id, isOfPackage }: ForeignMark): boolean {
  if ((byId.get(id)?.marks.length ?? 0) > 0) return true
  const isListed = modules.some((module) => lists.some((list) => listed(module, list).some((one) => one.id === id)))
  return isOfPackage && isListed
}

const lists = ['imports', 'controllers', 'providers'] as const

function refuseTsconfig(tsconfig: Tsconfig | undefined): Refusal<Place>[] {
  if (!tsconfig) return []
  const { hasDecorators, hasMetadata, options, body, decorators, metadata } = tsconfig
  const added = body
    ? [insertion(options.file, body.start, ` "experimentalDecorators": true${body.isEmpty ? ' ' : ','}`)]
    : []
  const refused: Refusal<Place>[] = []
  if (!hasDecorators) {
    const edits = decorators ? [{ place: decorators, text: 'true' }] : added
    refused.push(refusal('tsconfig-without-decorators', decorators ?? options, {}, [], edits))
  }
  if (hasMetadata) {
    const edits = metadata ? [{ place: metadata, text: 'false' }] : []
    refused.push(refusal('tsconfig-with-metadata', metadata ?? options, {}, [], edits))
  }
  return refused
}

const refuseClass = once((declaration, application) => {
  const { name, place, marks, members } = declaration
  const own = marks.filter((mark) => isRole(mark.name))
  const refused: Refusal<Place>[] = [
    ...refuseMarks(marks, (mark) => (isRole(mark.name) ? undefined : belongsOf(mark.name))),
    ...members.flatMap((member) => refuseMember(declaration, member, hasForeignMark(application, declaration, member))),
  ]
  const [role] = own
  if (!role) return refused
  for (const hook of hooks.filter((one) => declaration.memberNames.includes(one))) {
    refused.push(refusal('hook-not-called', place, { name: hook, className: name }))
  }
  const distinct = own.filter((mark, index) => own.findIndex((other) => other.name === mark.name) === index)
  const rival = distinct.find((mark) => mark !== role && mark.name !== 'Injectable' && role.name !== 'Injectable')
  if (rival) {
    const related = [{ message: 'and here', place: rival.place }]
    const roleNames = `@${role.name} and @${rival.name}`
    refused.push(refusal('class-with-two-roles', role.place, { name, roles: roleNames }, related))
  }
  if (declaration.isDefaultExport)
    refused.push(refusal('default-export', place, { name }, [], named(application, declaration)))
  else if (declaration.exportName === undefined) refused.push(notExported(declaration))
  if (declaration.isAbstract) refused.push(refusal('class-abstract', place, { name, role: role.name }))
  return refused
})

/** Exact where nobody imports the default. */
function named({ declarations }: Application, { id, defaultKeyword, name }: ClassDeclaration): Edit[] {
  const isImported = declarations.defaultImports.includes(id.slice(0, id.lastIndexOf('#')))
  if (!defaultKeyword || isImported || name === 'default') return []
  return [{ place: defaultKeyword, text: '' }]
}

export function notExported({ name, place, file, keyword, isTypeExported }: ClassDeclaration): Refusal<Place> {
  const edits = isTypeExported ? [] : [insertion(file, keyword, 'export ')]
  return refusal('class-not-exported', place, { name }, [], edits)
}

function refuseMember(
  { name: className, marks, memberNames }: ClassDeclaration,
  member: Member,
  isForeign: boolean,
): Refusal<Place>[] {
  const has = (role: ClassRole) => marks.some(({ name }) => name === role)
  const refused = refuseMarks(member.marks, ({ name }) => {
    if (isMethod(name) && has('Controller')) return undefined
    return name === 'On' && has('Webhook') ? undefined : belongsOf(name)
  })
  const isHandler = member.marks.length > 0
  for (const parameter of member.parameters) {
    refused.push(
      ...refuseMarks(parameter.marks, ({ name }) =>
        isInjector(name) && (isHandler || isForeign) ? undefined : belongsOf(name),
      ),
    )
  }
  if (isHandler && member.unfit) {
    const reason = unfitness[member.unfit] ?? member.unfit
    refused.push(refusal('handler-unfit', member.place, { name: member.name, reason }))
  }
  if (isHandler && memberNames.filter((name) => name === member.name).length > 1) {
    refused.push(refusal('handler-twice', member.place, { name: member.name, className }))
  }
  return refused
}

/** @param misplaced says where a decorator belongs that does not belong here. */
function refuseMarks(marks: readonly Mark[], misplaced: (mark: Mark) => string | undefined): Refusal<Place>[] {
  return marks.flatMap((mark, index) => {
    const { name, place, isCalled } = mark
    if (!decoratorNames.has(name)) {
      const hint = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
      return [refusal('decorator-unknown', place, { name, near: nearest(name, [...decoratorNames]), hint })]
    }
    const belongs = misplaced(mark)
    if (belongs !== undefined) return [refusal('decorator-misplaced', place, { name, belongs })]
    if (!isCalled) {
      const edits = name in forms ? [] : [insertion(place.file, place.end, '()')]
      return [refusal('decorator-not-called', place, { name, form: forms[name] ?? `@${name}()` }, [], edits)]
    }
    const first = marks.findIndex((other) => other.name === name)
    if (first !== index && name !== 'On' && !isMethod(name)) {
      return [
        refusal('decorator-twice', place, { name }, [{ message: 'the first is here', place: marks[first]!.place }]),
      ]
    }
    return []
  })
}

const hooks = [
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
]

/** What decorators that people know from elsewhere are here. */
const elsewhere: Record<string, string> = {
  All: 'declare the methods that there are, one by one',
  Catch: 'throw an `HttpError`: it becomes the answer',
  Global: 'import the module where its classes are needed',
  Headers: 'write `@Header(…)`',
  HttpCode: 'write the option `status` of the route: `@Post(…, { status: 201 })`',
  Inject: 'type the constructor parameter by the class',
  Ip: 'take `@Req()`, and read its header `cf-connecting-ip`',
  Res: 'return a `Response`',
  Roles: "write the option `auth`: `{ auth: { role: 'staff' } }`",
  UseFilters: 'throw an `HttpError`: it becomes the answer',
  UseGuards: 'write the option `auth` of the route, its controller or the root module',
  UsePipes: 'give the injector a schema: `@Body(schema)`',
}

const unfitness: Record<string, string> = {
  abstract: 'without a body',
  'computed name': 'named by a computation',
}

/** How a decorator is called that cannot be called with nothing. */
const forms: Record<string, string> = {
  Webhook: "@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })",
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
