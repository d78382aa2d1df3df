/** Remembers sound declarations from build to build. A declaration never changes, so a sound one is not checked again. */
import type { Application } from '../application.ts'
import type { ClassDeclaration, Span } from '../declaration.ts'
import type { Refusal } from '../refusals/index.ts'
import type { BuildContext } from './context.ts'

type Check = (declaration: ClassDeclaration, application: Application, context: BuildContext) => Refusal<Span>[]

/** @param check its result may depend only on the declaration, the root module and the context. */
export function once(check: Check): Check {
  const sound = new WeakMap<ClassDeclaration, { root: ClassDeclaration; context: BuildContext }>()
  return (declaration, application, context) => {
    const [root] = application.roots
    const before = sound.get(declaration)
    if (before && before.root === root && before.context === context) return []
    const found = check(declaration, application, context)
    if (found.length === 0 && root) sound.set(declaration, { root, context })
    return found
  }
}
