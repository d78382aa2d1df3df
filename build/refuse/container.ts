/** Checks dependencies: each is a class, a module provides it where it is needed, and there is no cycle. */
import { type Application, answerTo, classesIn, exportsOf, listings, visibleIn } from '../application.ts'
import { type ClassDeclaration, decoratorOf, hasRole, option, roles, type Span } from '../declaration.ts'
import { insertion, sdkNameIn } from '../edits.ts'
import { consequence, type Refusal, refusal } from '../refusals/index.ts'
import { notExportedRefusal } from './declarations.ts'
import { cycles } from './modules.ts'
import { checkHooks, checkWrappers } from './never-called.ts'
import { checkRecipes, isSubtype } from './recipes.ts'

export function checkContainer(application: Application): Refusal<Span>[] {
  const refused: Refusal<Span>[] = []
  const checked = new Set<ClassDeclaration>()
  const provided = listings(application, 'providers')
  const visible = new Map<ClassDeclaration, ReadonlySet<ClassDeclaration>>()
  const visibleFrom = (module: ClassDeclaration) => {
    const found = visible.get(module) ?? visibleIn(application, module)
    visible.set(module, found)
    return found
  }
  for (const { module, declaration } of [...listings(application, 'controllers'), ...provided]) {
    if (!checked.has(declaration)) refused.push(...checkTypes(declaration))
    checked.add(declaration)
    refused.push(...checkMissing(application, module, declaration, visibleFrom(module)))
  }
  for (const { declaration } of provided) {
    const isDecorated = roles.some((role) => hasRole(declaration, role)) // a class of another kind is refused for its list
    if (declaration.decorators.length === 0 && declaration.exportName === undefined) {
      refused.push(notExportedRefusal(declaration))
    }
    if (!isDecorated && declaration.isAbstract) {
      refused.push(
        refusal('class-abstract', declaration.place, { name: declaration.name, role: 'Injectable', isListed: true }),
      )
    }
    if (!isDecorated && declaration.dependencies.length > 0) {
      const { name, file, place, start } = declaration
      const named = sdkNameIn(application, file, 'Injectable')
      const edits = named ? [insertion(file, start, `@${named.name}()\n`), ...named.edits] : []
      refused.push(refusal('provider-not-injectable', place, { name }, [], edits))
    }
  }
  for (const { declaration } of provided)
    if (declaration.decorators.length === 0) refused.push(...checkHooks(declaration))
  return [
    ...withoutRepeats([...refused, ...checkRecipes(application)]),
    ...checkWrappers(new Set(provided.map(({ declaration }) => declaration)), checked),
    ...checkCycles(application, [...checked]),
  ]
}

function checkTypes({ name, dependencies, unknownBase }: ClassDeclaration): Refusal<Span>[] {
  if (unknownBase) return [refusal('base-unreadable', unknownBase, { name })]
  return dependencies
    .filter(({ target, isOptional }) => target === undefined && !isOptional)
    .map(({ parameter, type, place, isLost }) =>
      consequence(refusal('dependency-not-a-class', place, { name, parameter, type }), isLost),
    )
}

function checkMissing(
  application: Application,
  module: ClassDeclaration,
  declaration: ClassDeclaration,
  visible: ReadonlySet<ClassDeclaration>,
): Refusal<Span>[] {
  const { byId, modules } = application
  const isProvided = declaration.dependencies.every(({ target }) => {
    const needed = target === undefined ? undefined : byId.get(target)
    return !needed || visible.has(needed)
  })
  // an import that cannot be read may provide it, and is refused itself
  if (isProvided || !isReadableList(module, 'imports')) return []
  return declaration.dependencies.flatMap(({ target, place }) => {
    const needed = target === undefined ? undefined : byId.get(target)
    if (!needed || visible.has(needed)) return []
    const { name } = declaration
    const provider = modules.find((other) => classesIn(byId, other, 'providers').includes(needed))
    const isImported = provider && classesIn(byId, module, 'imports').includes(provider)
    if (provider && isImported && !exportsOf(byId, provider).includes(needed)) {
      const related = [{ message: `${provider.name} provides it`, place: provider.place }]
      const about = { name, needed: needed.name, provider: provider.name }
      return [refusal('dependency-not-exported', place, about, related)]
    }
    const role = (['Controller', 'Module'] as const).find((one) => hasRole(needed, one))
    const related = provider ? [{ message: `${provider.name} provides it`, place: provider.place }] : []
    const about = { name, needed: needed.name, module: module.name, role, ...recipeFor(application, needed) }
    return [refusal('dependency-not-provided', place, about, related)]
  })
}

/** The recipe that provides an abstract class, which a module cannot list itself. */
function recipeFor({ byId, declarations }: Application, needed: ClassDeclaration): { recipe?: string } {
  if (!needed.isAbstract) return {}
  const fitting = declarations.classes.filter((one) => !one.isAbstract && isSubtype(byId, one, needed.id))
  return { recipe: `{ provide: ${needed.name}, useClass: ${fitting.length === 1 ? fitting[0]!.name : '…'} }` }
}

/** Whether every item of a module's list is a class of the project. */
function isReadableList(module: ClassDeclaration, list: string): boolean {
  const given = option(decoratorOf(module, 'Module')?.arguments[0], list)
  return !given || (given.kind === 'list' && given.items.every(({ kind }) => kind === 'class'))
}

function checkCycles(application: Application, declarations: ClassDeclaration[]): Refusal<Span>[] {
  const edges = (declaration: ClassDeclaration) =>
    declaration.dependencies.flatMap(({ target, place }) => {
      const to = target === undefined ? undefined : answerTo(application, target)
      return to ? [{ to, place }] : []
    })
  return cycles(declarations, edges).map((cycle) => {
    const [first, ...others] = cycle
    const chain = [...cycle.map(({ from }) => from.name), first!.from.name].join(' -> ')
    const related = others.map(({ from, to, place }) => ({ message: `${from.name} needs ${to.name}`, place }))
    return refusal('dependency-cycle', first!.place, { chain }, related)
  })
}

/** Reports a finding once where two modules list the class. */
function withoutRepeats(refused: Refusal<Span>[]): Refusal<Span>[] {
  const seen = new Set<string>()
  return refused.filter(({ slug, place, message }) => {
    const key = `${slug} ${place.file}:${place.start} ${message}`
    return !seen.has(key) && seen.add(key)
  })
}
