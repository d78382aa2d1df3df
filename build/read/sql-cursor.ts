/** Reads the tokens of one SQL statement from left to right. Nothing here knows what a statement does. */
import type { Token } from './sql.ts'

/** A name as a statement writes it, with the tokens that it was read from. */
export interface SqlName {
  /** `undefined` where the statement names no schema. */
  schema: string | undefined
  name: string
  first: Token
  last: Token
}

export class SqlCursor {
  readonly tokens: readonly Token[]
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  /** Passes over these words if they come next. A quoted name or a string never counts as a word. */
  takes(...words: string[]): boolean {
    const isNext = words.every((word, index) => {
      const token = this.tokens[this.#next + index]
      return token?.text === word && token.kind !== 'quoted' && token.kind !== 'text'
    })
    if (isNext) this.#next += words.length
    return isNext
  }

  /** Reads a name, with its schema where the statement gives one. */
  name(): SqlName | undefined {
    const first = this.#identifier()
    if (!first) return undefined
    if (!this.takes('.')) return { schema: undefined, name: first.text, first, last: first }
    const last = this.#identifier()
    return last && { schema: first.text, name: last.text, first, last }
  }

  /** Reads names with commas between them. */
  names(): SqlName[] {
    const names: SqlName[] = []
    do {
      const name = this.name()
      if (name) names.push(name)
    } while (this.takes(','))
    return names
  }

  /** The tokens that were not read yet. The cursor stays where it is. */
  rest(): readonly Token[] {
    return this.tokens.slice(this.#next)
  }

  next(): Token | undefined {
    return this.tokens[this.#next++]
  }

  #identifier(): Token | undefined {
    const token = this.tokens[this.#next]
    if (token?.kind !== 'word' && token?.kind !== 'quoted') return undefined
    this.#next++
    return token
  }
}

/** Passes over the kind of a relation, like `materialized view`, if one comes next. */
export function takesRelationKind(cursor: SqlCursor): boolean {
  cursor.takes('foreign')
  cursor.takes('materialized')
  return cursor.takes('table') || cursor.takes('view')
}

/** Parts a list at its commas. A comma inside parentheses belongs to an item. */
export function splitAtCommas(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === '(') depth++
    if (token.kind === 'sign' && token.text === ')') depth--
    if (token.kind === 'sign' && token.text === ',' && depth === 0) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts
}
