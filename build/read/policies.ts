/** Row-level policies in `migrations/`, as far as their speed can be read from the text: what each row calls anew. */
import type { PolicyCall } from '../declaration.ts'
import type { MigrationText } from './relations.ts'

/** Calls of the claims' functions in policies that are not `(select …)`, which Postgres would run once. */
export function unwrappedCalls({ file, statements }: MigrationText): PolicyCall[] {
  const found: PolicyCall[] = []
  for (const { tokens } of statements) {
    const textAt = (index: number) => (tokens[index]?.kind === 'text' ? undefined : tokens[index]?.text)
    const isPolicy = (textAt(0) === 'create' || textAt(0) === 'alter') && textAt(1) === 'policy'
    if (!isPolicy) continue
    for (const [index, { start }] of tokens.entries()) {
      const isNamed = textAt(index) === 'auth' && textAt(index + 1) === '.' && textAt(index + 3) === '('
      const name = textAt(index + 2) ?? ''
      const isWrapped = textAt(index - 1) === 'select' && textAt(index - 2) === '('
      if (isNamed && claimsFunctions.has(name) && !isWrapped) {
        found.push({ name: `auth.${name}`, place: { file, start, end: tokens[index + 2]!.end } })
      }
    }
  }
  return found
}

const claimsFunctions: ReadonlySet<string> = new Set(['uid', 'jwt', 'has_permission'])
