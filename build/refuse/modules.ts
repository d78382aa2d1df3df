/** Checks modules: one root, every class in the list of its kind, and no circles. */
import { type Application, classesIn, constructedIn, exportsOf } from '../application.ts'
import {
  type ClassDeclaration,
  decoratorOf,
  hasRole,
  listed,
  option,
  recipesOf,
  roles,
  type Span,
  type StaticValue,
  text,
} from '../declaration.ts'
import { ruleOf } from '../gates.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { checkArguments, type Form } from './options.ts'

const options: Form = {
  is: 'record',
  keys: {
    imports: { is: 'classes' },
    controllers: { is: 'classes' },
    providers: { is: 'providers' },
    exports: { is: 'classes' },
    auth: { is: 'anything' }, // `gates.ts` checks it
    cors: {
      is: 'record',
      keys: {
        origins: { is: 'list', of: { is: 'origin' } },
        credentials: { is: 'boolean' },
        headers: { is: 'list', of: { is: 'header' } },
        exposed: { is: 'list', of: { is: 'header' } },
        maxAge: { is: 'number', from: 0, to: 86_400 },
      },
      required: { origins: "origins: ['https://app.example']" },
    },
  },
}

/** The beginning of a file, for a refusal that concerns the file as a whole. */
const start: Omit<Span, 'file'> = { start: 0, end: 0 }

export function checkModules(application: Application): Refusal<Span>[] {
  const { declarations, roots, modules } = application
  const refused: Refusal<Span>[] = []
  const { entry, files } = declarations
  if (roots.length === 0)
    refused.push(refusal('entry-without-module', { file: entry, ...start }, { entry, isMissing: !files.has(entry) }))
  const [root, second] = roots
  if (root && second) {
    refused.push(
      refusal('entry-with-two-modules', second.place, { entry }, [{ message: 'the first is here', place: root.place }]),
    )
  }
  for (const declaration of declarations.classes) {
    const decorator = decoratorOf(declaration, 'Module')
    if (decorator) refused.push(...checkArguments(decorator, [{ form: options, what: '' }]))
    const rule = second || declaration === root ? undefined : ruleOf(decorator, 0)
    const proper = root && ruleOf(decoratorOf(root, 'Module'), 0)
    const related = proper ? [{ message: 'the application default is here', place: proper.place }] : []
    if (rule) refused.push(refusal('application-default-misplaced', rule.place, { name: declaration.name }, related))
    const cors = option(decorator?.arguments[0], 'cors')
    if (cors && root && !second && declaration !== root) {
      refused.push(refusal('cors-misplaced', cors.place, { name: declaration.name }))
    }
    refused.push(...checkOpenCredentials(cors))
    const injectable = decoratorOf(declaration, 'Injectable')
    if (injectable) refused.push(...checkArguments(injectable, []))
  }
  if (root && !second) refused.push(...checkUnlisted(application))
  for (const module of modules) refused.push(...checkLists(application, module), ...checkRepeated(module, application))
  return [...refused, ...checkProvidedTwice(application), ...checkCycles(application)]
}

function checkOpenCredentials(cors: StaticValue | undefined): Refusal<Span>[] {
  const origins = option(cors, 'origins')
  const credentials = option(cors, 'credentials')
  const isOpen = origins?.kind === 'list' && origins.items.some((item) => text(item) === '*')
  const others = origins?.kind === 'list' && origins.items.length > 1 ? origins.items.length : 0
  if (isOpen && others > 0) return [refusal('cors-open', origins.place, { beside: 'other origins' })]
  if (!isOpen || credentials?.kind !== 'literal' || credentials.value !== true) return []
  return [refusal('cors-open', credentials.place, { beside: '`credentials`' })]
}

/** The list in which a module names a class with this decorator. */
const lists = { Controller: 'controllers', Webhook: 'providers', Injectable: 'providers', Module: 'imports' } as const

function checkUnlisted(application: Application): Refusal<Span>[] {
  const { declarations, byId, modules, roots } = application
  const seen = new Set(
    modules.flatMap((module) => [
      ...['controllers', 'providers', 'imports'].flatMap((list) => listed(module, list).map(({ id }) => id)),
      ...recipesOf(module).flatMap(({ provide, useClass }) => [provide.id, useClass.id]),
    ]),
  )
  const listedClasses = modules.flatMap((module) =>
    ['controllers', 'providers'].flatMap((list) => constructedIn(byId, module, list)),
  )
  const needed = new Set([
    ...listedClasses.flatMap(({ dependencies }) => dependencies.map(({ target }) => target)),
    ...modules.flatMap((module) => listed(module, 'exports').map(({ id }) => id)),
  ])
  return declarations.classes.flatMap((declaration) => {
    const { id, name, place } = declaration
    const role = (['Controller', 'Webhook', 'Module', 'Injectable'] as const).find((one) => hasRole(declaration, one))
    // refused already as a default export, or where a class needs it and no module provides it
    if (!role || declaration.isDefaultExport || seen.has(id) || needed.has(id) || roots.includes(byId.get(id)!))
      return []
    return [refusal('class-not-listed', place, { name, list: lists[role] })]
  })
}

function checkRepeated(module: ClassDeclaration, { byId }: Application): Refusal<Span>[] {
  return (['imports', 'controllers', 'providers', 'exports'] as const).flatMap((list) => {
    const items = listed(module, list)
    return items.flatMap(({ id, place }, index) => {
      const first = items.findIndex((other) => other.id === id)
      const declaration = byId.get(id)
      if (first === index || !declaration) return []
      const related = [{ message: 'the first is here', place: items[first]!.place }]
      return [refusal('listed-twice', place, { name: declaration.name, list }, related)]
    })
  })
}

function checkProvidedTwice(application: Application): Refusal<Span>[] {
  const first = new Map<ClassDeclaration, { module: ClassDeclaration; place: Span }>()
  return application.modules.flatMap((module) =>
    listed(module, 'providers').flatMap(({ id, place }) => {
      const declaration = application.byId.get(id)
      if (!declaration) return []
      const earlier = first.get(declaration)
      if (!earlier) first.set(declaration, { module, place })
      if (!earlier || earlier.module === module) return []
      const about = { name: declaration.name, module: module.name, other: earlier.module.name }
      return [refusal('provided-twice', place, about, [{ message: 'the first is here', place: earlier.place }])]
    }),
  )
}

function checkLists({ byId, declarations }: Application, module: ClassDeclaration): Refusal<Span>[] {
  const foreign = new Set(declarations.foreignDecorators.map(({ classId }) => classId))
  const wrong = (list: string, belongs: string, isFitting: (declaration: ClassDeclaration) => boolean) =>
    listed(module, list).flatMap(({ id, place }) => {
      const declaration = byId.get(id)
      // refused already where its own decorator comes from elsewhere
      if (!declaration || isFitting(declaration) || foreign.has(id)) return []
      const role = roles.find((one) => hasRole(declaration, one))
      const proper = role && lists[role]
      return [refusal('listed-in-the-wrong-list', place, { name: declaration.name, list, belongs, proper })]
    })
  const provided = new Set([
    ...classesIn(byId, module, 'providers'),
    ...classesIn(byId, module, 'imports'),
    ...classesIn(byId, module, 'imports').flatMap((imported) => exportsOf(byId, imported)),
  ])
  return [
    ...wrong('controllers', 'class with @Controller', (one) => hasRole(one, 'Controller')),
    ...wrong('imports', 'class with @Module', (one) => hasRole(one, 'Module')),
    ...wrong('providers', 'provider', (one) => !hasRole(one, 'Controller') && !hasRole(one, 'Module')),
    ...listed(module, 'exports').flatMap(({ id, place }) => {
      const declaration = byId.get(id)
      if (!declaration || provided.has(declaration)) return []
      return [refusal('export-not-provided', place, { name: declaration.name, module: module.name })]
    }),
  ]
}

function checkCycles({ byId, modules }: Application): Refusal<Span>[] {
  const edges = (module: ClassDeclaration) =>
    listed(module, 'imports').flatMap(({ id, place }) => {
      const to = byId.get(id)
      return to ? [{ to, place }] : []
    })
  return cycles(modules, edges).map((cycle) => {
    const [first, ...others] = cycle
    const chain = [...cycle.map(({ from }) => from.name), first!.from.name].join(' -> ')
    const related = others.map(({ from, to, place }) => ({ message: `${from.name} imports ${to.name}`, place }))
    return refusal('module-cycle', first!.place, { chain }, related)
  })
}

export interface Edge {
  from: ClassDeclaration
  to: ClassDeclaration
  place: Span
}

/** @returns each circle of a graph once, as its edges. */
export function cycles(
  nodes: readonly ClassDeclaration[],
  edgesOf: (node: ClassDeclaration) => { to: ClassDeclaration; place: Span }[],
): Edge[][] {
  const found: Edge[][] = []
  const done = new Set<ClassDeclaration>()
  const path: Edge[] = []
  const visit = (node: ClassDeclaration): void => {
    if (done.has(node)) return
    for (const { to, place } of edgesOf(node)) {
      path.push({ from: node, to, place })
      const start = path.findIndex(({ from }) => from === to)
      if (start !== -1) found.push(path.slice(start))
      else visit(to)
      path.pop()
    }
    done.add(node)
  }
  for (const node of nodes) visit(node)
  return found
}
