/** Finds calls in row-level policies that Postgres runs once for each row (contract 5.3). */
import type { PolicyCall } from '../declaration.ts'
import type { MigrationText } from './sql.ts'

/** Calls of the functions below in policies. Postgres runs `(select …)` around a call once for each statement. */
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

/** The functions of schema `auth` that verify the claims each time. */
const claimsFunctions: ReadonlySet<string> = new Set(['uid', 'jwt', 'has_permission'])
