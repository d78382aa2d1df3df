/** Checks for classes and methods that another framework would call, and that this runtime never calls. */
import { type ClassDeclaration, hasRole, type Span } from '../declaration.ts'
import { hooks, wrappers } from '../elsewhere.ts'
import { type Refusal, refusal } from '../refusals/index.ts'

export function checkHooks(declaration: ClassDeclaration): Refusal<Span>[] {
  const { name: className, place, memberNames } = declaration
  const found = [...new Set(memberNames)].filter(
    (name) => hooks.has(name) || (name === 'configure' && hasRole(declaration, 'Module')),
  )
  return found.map((name) => refusal('hook-not-called', place, { name, className }))
}

/** A class that injects the provider may call its method, so only other providers are refused. */
export function checkWrappers(
  providers: ReadonlySet<ClassDeclaration>,
  constructed: ReadonlySet<ClassDeclaration>,
): Refusal<Span>[] {
  const found = [...providers].flatMap((declaration) => {
    const wrapper = wrapperOf(declaration)
    return wrapper ? [{ declaration, wrapper }] : []
  })
  const others = [...constructed].filter((one) => !found.some(({ declaration }) => declaration === one))
  const needed = new Set(others.flatMap(({ dependencies }) => dependencies.map(({ target }) => target)))
  return found.flatMap(({ declaration: { id, name, place }, wrapper: { kind, method, instead } }) =>
    needed.has(id) ? [] : [refusal('wrapper-not-called', place, { name, kind, method, instead })],
  )
}

/** The kind of wrapper that the class implements, or that its name and its method together suggest. */
function wrapperOf({ name, implemented, memberNames }: ClassDeclaration): (typeof wrappers)[number] | undefined {
  return wrappers.find(
    ({ type, suffix, method }) =>
      implemented.some((one) => one.name === type) || (name.endsWith(suffix) && memberNames.includes(method)),
  )
}
