/** Combines the declarations into one application: which modules the root reaches, and which module lists which class. Pure. */
import {
  type ClassDeclaration,
  type ClassId,
  type Declarations,
  decoratorOf,
  hasRole,
  listed,
  type Member,
  option,
  providedByRecipe,
  recipesOf,
} from './declaration.ts'

export interface Application {
  declarations: Declarations
  byId: Map<ClassId, ClassDeclaration>
  /** Classes with @Module in the entry. A valid application has exactly one. */
  roots: ClassDeclaration[]
  /** The modules that the root reaches through imports, the root first. */
  modules: ClassDeclaration[]
  /** The class whose instance dependencies on another class get, for each class that a recipe provides (contract 2.2). */
  answers: ReadonlyMap<ClassId, ClassDeclaration>
}

export function applicationOf(declarations: Declarations): Application {
  const byId = new Map(declarations.classes.map((declaration) => [declaration.id, declaration]))
  const roots = declarations.classes.filter(
    ({ file, decorators }) => file === declarations.entry && hasModule(decorators),
  )
  const modules: ClassDeclaration[] = []
  const visit = (module: ClassDeclaration) => {
    if (modules.includes(module)) return
    modules.push(module)
    for (const imported of classesIn(byId, module, 'imports')) visit(imported)
  }
  const [root] = roots
  if (root) visit(root)
  const answers = new Map<ClassId, ClassDeclaration>()
  for (const { provide, useClass } of modules.flatMap(recipesOf)) {
    const answer = byId.get(useClass.id)
    if (answer && !answers.has(provide.id)) answers.set(provide.id, answer)
  }
  return { declarations, byId, roots, modules, answers }
}

/** The class whose instance a dependency receives. */
export function answerTo({ byId, answers }: Application, target: ClassId): ClassDeclaration | undefined {
  return answers.get(target) ?? byId.get(target)
}

/** The known classes that a module's list offers. A recipe among the providers offers the class that it provides. */
export function classesIn(
  byId: Map<ClassId, ClassDeclaration>,
  module: ClassDeclaration,
  list: string,
): ClassDeclaration[] {
  const offered = list === 'providers' ? providedByRecipe(module) : []
  return [...listed(module, list), ...offered].flatMap(({ id }) => byId.get(id) ?? [])
}

/** The known classes that are constructed because a module lists them. A recipe constructs its `useClass`. */
export function constructedIn(
  byId: Map<ClassId, ClassDeclaration>,
  module: ClassDeclaration,
  list: string,
): ClassDeclaration[] {
  const used = list === 'providers' ? recipesOf(module).map(({ useClass }) => useClass) : []
  return [...listed(module, list), ...used].flatMap(({ id }) => byId.get(id) ?? [])
}

/** The classes that a module's own classes may depend on: its providers, and the exports of the modules it imports. */
export function visibleIn({ byId }: Application, module: ClassDeclaration): Set<ClassDeclaration> {
  const visible = new Set(classesIn(byId, module, 'providers'))
  for (const imported of classesIn(byId, module, 'imports'))
    for (const exported of exportsOf(byId, imported)) visible.add(exported)
  return visible
}

/** The exports of a module. Without `exports` they are all its providers. A module in `exports` adds its own exports. */
export function exportsOf(
  byId: Map<ClassId, ClassDeclaration>,
  module: ClassDeclaration,
  seen = new Set<ClassDeclaration>(),
): ClassDeclaration[] {
  if (seen.has(module)) return []
  seen.add(module)
  if (!hasList(module, 'exports')) return classesIn(byId, module, 'providers')
  return classesIn(byId, module, 'exports').flatMap((exported) =>
    hasRole(exported, 'Module') ? exportsOf(byId, exported, seen) : [exported],
  )
}

function hasList(module: ClassDeclaration, list: string): boolean {
  return option(decoratorOf(module, 'Module')?.arguments[0], list) !== undefined
}

function hasModule(decorators: ClassDeclaration['decorators']): boolean {
  return decorators.some(({ name }) => name === 'Module')
}

export interface Listing {
  module: ClassDeclaration
  declaration: ClassDeclaration
}

/** Every class that a reached module constructs, once for each such module. */
export function listings({ byId, modules }: Application, list: 'controllers' | 'providers'): Listing[] {
  return modules.flatMap((module) => constructedIn(byId, module, list).map((declaration) => ({ module, declaration })))
}

/** Whether a member or one of its parameters has a decorator with the name of an SDK decorator that is another one. */
export function hasForeignDecorator({ declarations }: Application, { id }: ClassDeclaration, member: Member): boolean {
  return declarations.foreignDecorators.some(
    (decorator) => decorator.classId === id && decorator.member === member.name,
  )
}
