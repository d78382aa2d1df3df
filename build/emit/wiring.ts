/** Writes the constructor calls as code: one function for each class, which builds it and its dependencies at first use (contract 2.2). */
import type { Component } from '../../runtime/table.ts'

/** @returns JavaScript that declares `builders`. The classes must be in scope as `class0`, `class1` … in the table's order. */
export function wiringSource(components: readonly Component[]): string {
  const functions = components.map(({ dependencies }, index) => {
    const given = dependencies.map((dependency) => (dependency === null ? 'undefined' : `build${dependency}()`))
    return `let instance${index}\nconst build${index} = () => instance${index} ??= new class${index}(${given.join(', ')})`
  })
  return [...functions, `const builders = [${components.map((_, index) => `build${index}`).join(', ')}]`].join('\n')
}
