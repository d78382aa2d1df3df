/** A declaration never changes: one that a judge found nothing in is not judged again, build after build. */
import type { Application } from '../application.ts'
import type { ClassDeclaration, Place } from '../declaration.ts'
import type { Refusal } from '../refusals/index.ts'
import type { Circumstances } from './index.ts'

type Judge = (declaration: ClassDeclaration, application: Application, circumstances: Circumstances) => Refusal<Place>[]

/** @param judge whether it finds anything may depend on the declaration, the root module and the circumstances alone. */
export function once(judge: Judge): Judge {
  const sound = new WeakMap<ClassDeclaration, { root: ClassDeclaration; circumstances: Circumstances }>()
  return (declaration, application, circumstances) => {
    const [root] = application.roots
    const before = sound.get(declaration)
    if (before && before.root === root && before.circumstances === circumstances) return []
    const found = judge(declaration, application, circumstances)
    if (found.length === 0 && root) sound.set(declaration, { root, circumstances })
    return found
  }
}
