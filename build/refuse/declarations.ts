/** Checks classes and decorators: their places, and whether the worker could import them. */
import { nearest } from '../../src/wire/nearest.ts'
import { type Application, hasForeignDecorator } from '../application.ts'
import {
  type ClassDeclaration,
  type ClassRole,
  type Decorator,
  decoratorNames,
  type ForeignDecorator,
  injectors,
  listed,
  type Member,
  methods,
  roles,
  type Span,
  type Tsconfig,
  type UnimportedDecorator,
} from '../declaration.ts'
import { insertion, sdkNameIn } from '../edits.ts'
import { hintFor, isServerFramework } from '../elsewhere.ts'
import { type Edit, type Refusal, refusal } from '../refusals/index.ts'
import type { BuildContext } from './context.ts'
import { checkHooks } from './never-called.ts'
import { once } from './once.ts'

const isRole = (name: string): name is ClassRole => (roles as readonly string[]).includes(name)
const isMethod = (name: string) => Object.hasOwn(methods, name)
const isInjector = (name: string) => (injectors as readonly string[]).includes(name)

export function checkDeclarations(application: Application, context: BuildContext): Refusal<Span>[] {
  const { syntaxErrors, classes, strayDecorators, argumentValues, unimported, foreignDecorators } =
    application.declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const refused = [
    ...checkTsconfig(application.declarations.tsconfig),
    ...classes.flatMap((declaration) => checkClass(declaration, application, context)),
    ...checkDecorators(strayDecorators, ({ name }) => belongsOf(name)),
    ...unimported.flatMap((one) => checkUnimported(application, one)),
    ...foreignDecorators
      .filter((decorator) => !decorator.isLost && isMeant(application, decorator))
      .map(({ name, exported, from, place }) => {
        const known = decoratorNames.has(exported) ? exported : nearestDecorator(exported)
        return refusal('decorator-foreign', place, { name, from, known, hint: hintFor(exported) })
      }),
    ...argumentValues.map(({ name, place }) => refusal('decorator-as-value', place, { name })),
  ].filter(({ place }) => !unparsed.has(place.file))
  const unreadable = syntaxErrors.map(({ message, place }) =>
    refusal('syntax-error', place, { reason: message.replace(/\.$/, '') }),
  )
  return [...unreadable, ...refused]
}

/**
 * A name without a declaration throws as the worker loads. A name that resembles no decorator of the SDK may be a parameter of
 * a function around it, or belong to another framework. It is refused on a class that has a role.
 */
function checkUnimported(application: Application, { name, place, classId }: UnimportedDecorator): Refusal<Span>[] {
  if (decoratorNames.has(name)) {
    return [refusal('decorator-not-imported', place, { name }, [], sdkNameIn(application, place.file, name)?.edits)]
  }
  if (classId === undefined) return []
  const hint = hintFor(name)
  const near = hint === undefined ? nearestDecorator(name) : undefined
  const hasRole = (application.byId.get(classId)?.decorators.length ?? 0) > 0
  return near || hint || hasRole ? [refusal('decorator-not-imported', place, { name, near, hint })] : []
}

function nearestDecorator(name: string): string | undefined {
  return nearest(name, [...decoratorNames])
}

/**
 * Whether a decorator from elsewhere is a mistake for the SDK's. On a class with a role it always is. On a class without a role
 * that a module lists, it is a mistake if a package exports it: the project may have a decorator of that name itself.
 */
function isMeant(
  { byId, modules }: Application,
  { classId: id, isOfPackage, from, exported }: ForeignDecorator,
): boolean {
  if ((byId.get(id)?.decorators.length ?? 0) > 0) return true
  if (isServerFramework(from) && decoratorNames.has(exported)) return true
  const isListed = modules.some((module) => lists.some((list) => listed(module, list).some((one) => one.id === id)))
  return isOfPackage && isListed
}

const lists = ['imports', 'controllers', 'providers'] as const

function checkTsconfig(tsconfig: Tsconfig | undefined): Refusal<Span>[] {
  if (!tsconfig) return []
  const { hasDecorators, hasMetadata, options, body, decorators, metadata } = tsconfig
  const added = body
    ? [insertion(options.file, body.start, ` "experimentalDecorators": true${body.isEmpty ? ' ' : ','}`)]
    : []
  const refused: Refusal<Span>[] = []
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

const checkClass = once((declaration, application) => {
  const { name, place, decorators, members } = declaration
  const own = decorators.filter((decorator) => isRole(decorator.name))
  const refused: Refusal<Span>[] = [
    ...checkDecorators(decorators, (decorator) => (isRole(decorator.name) ? undefined : belongsOf(decorator.name))),
    ...members.flatMap((member) =>
      checkMember(declaration, member, hasForeignDecorator(application, declaration, member)),
    ),
  ]
  const [role] = own
  if (!role) return refused
  refused.push(...checkHooks(declaration))
  const distinct = own.filter((decorator, index) => own.findIndex((other) => other.name === decorator.name) === index)
  const rival = distinct.find(
    (decorator) => decorator !== role && decorator.name !== 'Injectable' && role.name !== 'Injectable',
  )
  if (rival) {
    const related = [{ message: 'and here', place: rival.place }]
    const roleNames = `@${role.name} and @${rival.name}`
    refused.push(refusal('class-with-two-roles', role.place, { name, roles: roleNames }, related))
  }
  if (declaration.isDefaultExport)
    refused.push(refusal('default-export', place, { name }, [], namedExportEdits(application, declaration)))
  else if (declaration.exportName === undefined) refused.push(notExportedRefusal(declaration))
  if (declaration.isAbstract) refused.push(refusal('class-abstract', place, { name, role: role.name }))
  return refused
})

/** The edit that turns a default export into a named one. Empty where a file imports the default. */
function namedExportEdits({ declarations }: Application, { id, defaultKeyword, name }: ClassDeclaration): Edit[] {
  const isImported = declarations.defaultImports.includes(id.slice(0, id.lastIndexOf('#')))
  if (!defaultKeyword || isImported || name === 'default') return []
  return [{ place: defaultKeyword, text: '' }]
}

export function notExportedRefusal({ name, place, file, keyword, isTypeExported }: ClassDeclaration): Refusal<Span> {
  const edits = isTypeExported ? [] : [insertion(file, keyword, 'export ')]
  return refusal('class-not-exported', place, { name }, [], edits)
}

function checkMember(
  { name: className, decorators, memberNames }: ClassDeclaration,
  member: Member,
  isForeign: boolean,
): Refusal<Span>[] {
  const has = (role: ClassRole) => decorators.some(({ name }) => name === role)
  const refused = checkDecorators(member.decorators, ({ name }) => {
    if (isMethod(name) && has('Controller')) return undefined
    if (name === 'Cron') return undefined // `crons.ts` checks its class
    return name === 'On' && has('Webhook') ? undefined : belongsOf(name)
  })
  const isHandler = member.decorators.length > 0
  for (const parameter of member.parameters) {
    refused.push(
      ...checkDecorators(parameter.decorators, ({ name }) =>
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

/** @param misplaced returns where a decorator belongs, or `undefined` where it stands in its place. */
function checkDecorators(
  decorators: readonly Decorator[],
  misplaced: (decorator: Decorator) => string | undefined,
): Refusal<Span>[] {
  return decorators.flatMap((decorator, index) => {
    const { name, place, isCalled } = decorator
    if (!decoratorNames.has(name)) {
      return [refusal('decorator-unknown', place, { name, near: nearestDecorator(name), hint: hintFor(name) })]
    }
    const belongs = misplaced(decorator)
    if (belongs !== undefined) return [refusal('decorator-misplaced', place, { name, belongs })]
    if (!isCalled) {
      const edits = name in forms ? [] : [insertion(place.file, place.end, '()')]
      return [refusal('decorator-not-called', place, { name, form: forms[name] ?? `@${name}()` }, [], edits)]
    }
    const first = decorators.findIndex((other) => other.name === name)
    if (first !== index && name !== 'On' && name !== 'Cron' && !isMethod(name)) {
      return [
        refusal('decorator-twice', place, { name }, [
          { message: 'the first is here', place: decorators[first]!.place },
        ]),
      ]
    }
    return []
  })
}

/** Words for the reasons of `Member.unfit` that are no adjectives. */
const unfitness: Record<string, string> = {
  abstract: 'without a body',
  'computed name': 'named by a computation',
}

/** Example calls of the decorators that need an argument. */
const forms: Record<string, string> = {
  Webhook: "@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })",
  On: "@On('invoice.paid')",
  Cron: "@Cron('0 3 * * *')",
  Param: "@Param('id')",
  Query: "@Query('page')",
  Header: "@Header('x-name')",
}

function belongsOf(name: string): string {
  if (isRole(name)) return 'a class at the top of a file'
  if (name === 'On') return 'a method of a class with @Webhook'
  if (name === 'Cron') return 'a method of a class with @Injectable'
  return isMethod(name) ? 'a method of a class with @Controller' : "a parameter of a route's handler"
}
