/** Reads the calls that a file makes before any request is served, with the origin of each called name. */
import type { EarlyCall } from '../declaration.ts'
import type { Expression } from '../expression.ts'
import type { Program } from '../program.ts'
import type { SourceFile } from '../source-file.ts'

export function readEarlyCalls(program: Program, file: SourceFile): EarlyCall[] {
  return file.earlyCalls.flatMap(({ callee, isNew, className, place }) => {
    const name = nameOf(callee)
    if (name === undefined) return []
    const root = rootOf(callee)
    const meaning = program.meaningOfExpression(file, { kind: 'name', name: root, place })
    const from =
      meaning?.kind === 'sdk'
        ? { sdk: meaning.name }
        : meaning?.kind === 'foreign'
          ? { package: meaning.from, name: meaning.name }
          : meaning?.kind === 'namespace'
            ? { package: meaning.from, name: name.split('.')[1] ?? '*' }
            : meaning || file.declared.has(root) || file.imports.has(root)
              ? undefined
              : { global: name.replace(/^globalThis\./, '') }
    return from ? [{ name, from, isNew, className, place }] : []
  })
}

function nameOf(callee: Expression): string | undefined {
  if (callee.kind === 'name') return callee.name
  const of = callee.kind === 'member' ? nameOf(callee.of) : undefined
  return of === undefined ? undefined : `${of}.${(callee as Expression & { kind: 'member' }).property}`
}

function rootOf(callee: Expression): string {
  return callee.kind === 'member' ? rootOf(callee.of) : callee.kind === 'name' ? callee.name : ''
}
