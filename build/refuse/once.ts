/** A declaration never changes: one that a judge found nothing in is not judged again, build after build. */
import type { Application } from '../application.ts'
import type { ClassDeclaration, Span } from '../declaration.ts'
import type { Refusal } from '../refusals/index.ts'
import type { BuildContext } from './context.ts'

type Judge = (declaration: ClassDeclaration, application: Application, context: BuildContext) => Refusal<Span>[]

/** @param judge whether it finds anything may depend on the declaration, the root module and the context alone. */
export function once(judge: Judge): Judge {
  const sound = new WeakMap<ClassDeclaration, { root: ClassDeclaration; context: BuildContext }>()
  return (declaration, application, context) => {
    const [root] = application.roots
    const before = sound.get(declaration)
    if (before && before.root === root && before.context === context) return []
    const found = judge(declaration, application, context)
    if (found.length === 0 && root) sound.set(declaration, { root, context })
    return found
  }
}
