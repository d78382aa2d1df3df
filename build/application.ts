/** The declarations as one application: what the root module reaches, and who lists whom. Pure. */
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
  /** Classes with @Module in the entry; a sound application has one. */
  roots: ClassDeclaration[]
  /** What the root reaches through imports, the root first. */
  modules: ClassDeclaration[]
  /** What answers for a class that a recipe provides (contract 2.2). */
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

/** The known classes that a list of a module offers: a recipe among the providers offers what it provides. */
export function classesIn(
  byId: Map<ClassId, ClassDeclaration>,
  module: ClassDeclaration,
  list: string,
): ClassDeclaration[] {
  const offered = list === 'providers' ? providedByRecipe(module) : []
  return [...listed(module, list), ...offered].flatMap(({ id }) => byId.get(id) ?? [])
}

/** The known classes that are constructed because a module lists them: of a recipe, the one that it uses. */
export function constructedIn(
  byId: Map<ClassId, ClassDeclaration>,
  module: ClassDeclaration,
  list: string,
): ClassDeclaration[] {
  const used = list === 'providers' ? recipesOf(module).map(({ useClass }) => useClass) : []
  return [...listed(module, list), ...used].flatMap(({ id }) => byId.get(id) ?? [])
}

/** What a module's own classes may depend on: its providers, and what the modules it imports export. */
export function visibleIn({ byId }: Application, module: ClassDeclaration): Set<ClassDeclaration> {
  const visible = new Set(classesIn(byId, module, 'providers'))
  for (const imported of classesIn(byId, module, 'imports'))
    for (const exported of exportsOf(byId, imported)) visible.add(exported)
  return visible
}

/** Without `exports`, all providers; a module in `exports` passes on what it exports itself. */
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

/** Every class that a reached module lets be constructed there; once for each module that does. */
export function listings({ byId, modules }: Application, list: 'controllers' | 'providers'): Listing[] {
  return modules.flatMap((module) => constructedIn(byId, module, list).map((declaration) => ({ module, declaration })))
}

/** Whether a decorator of a member, or of one of its parameters, bears the name of one of the SDK's and is none. */
export function hasForeignDecorator({ declarations }: Application, { id }: ClassDeclaration, member: Member): boolean {
  return declarations.foreignDecorators.some(
    (decorator) => decorator.classId === id && decorator.member === member.name,
  )
}
