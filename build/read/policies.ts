/** Row-level policies in `migrations/`, as far as their speed can be read from the text: what each row calls anew. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { PolicyCall } from '../declaration.ts'

interface Token {
  text: string
  start: number
  end: number
}

/** @param root absolute. @returns absolute paths, in the order in which they run. */
export function migrationsOf(root: string): string[] {
  const folder = path.join(root, 'migrations')
  if (!fs.existsSync(folder)) return []
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return names.sort().map((name) => path.join(folder, name))
}

export function readPolicies(root: string): PolicyCall[] {
  return migrationsOf(root).flatMap((absolute) => {
    const file = `migrations/${path.basename(absolute)}`
    return unwrappedCalls(fs.readFileSync(absolute, 'utf8')).map(({ text, start, end }) => ({
      name: text,
      place: { file, start, end },
    }))
  })
}

/** Comments, texts and bodies of functions are passed over: what is left is names and signs. */
const lexeme =
  /--[^\n]*|\/\*[\s\S]*?\*\/|(\$[A-Za-z_]*\$)[\s\S]*?\1|[eE]?'(?:[^'\\]|''|\\[\s\S])*'|"((?:[^"]|"")*)"|([A-Za-z_][\w$]*)|([^\s])/g

/** Calls of the claims' functions in policies that are not `(select …)`, which Postgres would run once. */
export function unwrappedCalls(sql: string): Token[] {
  const tokens: Token[] = []
  for (const { 0: whole, 2: quoted, 3: word, 4: sign, index } of sql.matchAll(lexeme)) {
    const text = quoted ?? word?.toLowerCase() ?? sign
    if (text !== undefined) tokens.push({ text, start: index, end: index + whole.length })
  }
  const found: Token[] = []
  let isPolicy = false
  for (const [index, { text, start }] of tokens.entries()) {
    const next = (offset: number) => tokens[index + offset]?.text
    if (text === ';') isPolicy = false
    if ((text === 'create' || text === 'alter') && next(1) === 'policy') isPolicy = true
    const isCall = text === 'auth' && next(1) === '.' && claimsFunctions.has(next(2) ?? '') && next(3) === '('
    const isWrapped = next(-1) === 'select' && next(-2) === '('
    if (isPolicy && isCall && !isWrapped) found.push({ text: `auth.${next(2)}`, start, end: tokens[index + 2]!.end })
  }
  return found
}

const claimsFunctions: ReadonlySet<string> = new Set(['uid', 'jwt', 'has_permission'])
