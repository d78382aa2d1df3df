/** Orders the classes that the container constructs: each dependency comes before the classes that need it (contract 2.2). */
import type { Component } from '../../runtime/table.ts'
import { type Application, answerTo, listings } from '../application.ts'
import type { ClassDeclaration } from '../declaration.ts'

export interface Container {
  components: Component[]
  /** The declarations of the components, in the same order. */
  declarations: ClassDeclaration[]
  indexOf(declaration: ClassDeclaration): number
}

/** @param application an accepted application, so it has no cycle and every dependency is provided. */
export function linkContainer(application: Application): Container {
  const placed = new Set<ClassDeclaration>()
  const declarations: ClassDeclaration[] = []
  const place = (declaration: ClassDeclaration): void => {
    if (placed.has(declaration)) return
    placed.add(declaration)
    for (const { target } of declaration.dependencies) {
      if (target !== undefined) place(answerTo(application, target)!)
    }
    declarations.push(declaration)
  }
  for (const list of ['controllers', 'providers'] as const) {
    for (const { declaration } of listings(application, list)) place(declaration)
  }
  const indices = new Map(declarations.map((declaration, index) => [declaration, index]))
  const indexOf = (declaration: ClassDeclaration) => indices.get(declaration)!
  return {
    declarations,
    indexOf,
    components: declarations.map(({ name, file, line, dependencies }) => ({
      class: name,
      file,
      line,
      dependencies: dependencies.map(({ target }) =>
        target === undefined ? null : indexOf(answerTo(application, target)!),
      ),
    })),
  }
}
