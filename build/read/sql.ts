/** Splits the text of a migration into statements and tokens, as psql does. Nothing here knows what a statement does. */

export interface Token {
  /** `text` is a string constant. A `sign` is one character of punctuation, or a number. */
  kind: 'word' | 'quoted' | 'text' | 'sign'
  /** A word is in lower case, a quoted name has lost its quotes, and a string constant is as the file writes it. */
  text: string
  start: number
  end: number
}

export interface SqlStatement {
  /** At least one token. The semicolon is not among them. */
  tokens: Token[]
}

export interface MigrationText {
  /** Relative to the project, with `/`. */
  file: string
  statements: SqlStatement[]
}

export function readMigration(file: string, sql: string): MigrationText {
  return { file, statements: statementsOf(sql) }
}

/**
 * One token, or white space, or a comment. Comments nest, so `commentEnd` finds their end. A string constant is `'…'`,
 * `e'…'` with backslash escapes, or `$tag$…$tag$`. A string that is never closed reaches to the end of the text.
 */
const lexeme =
  /(\s+|--[^\n]*)|(\/\*)|(\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|([eE]'[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*(?:'|\\?$)|(?:[uU]&|[bBxXnN])?'[^']*(?:''[^']*)*(?:'|$))|(?:[uU]&)?"([^"]*(?:""[^"]*)*)(?:"|$)|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(\d[\w.]*)|([\s\S])/gy

export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < sql.length; ) {
    lexeme.lastIndex = at
    const [whole, blank, comment, tag, text, quoted, word, number, sign] = lexeme.exec(sql)!
    let end = at + whole.length
    if (comment !== undefined) end = commentEnd(sql, at)
    else if (tag !== undefined) {
      const close = sql.indexOf(tag, end)
      end = close === -1 ? sql.length : close + tag.length
    }
    const add = (kind: Token['kind'], value: string) => tokens.push({ kind, text: value, start: at, end })
    if (tag !== undefined || text !== undefined) add('text', sql.slice(at, end))
    else if (quoted !== undefined) add('quoted', quoted.replaceAll('""', '"'))
    else if (word !== undefined)
      add(
        'word',
        word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
      )
    else if (blank === undefined && comment === undefined) add('sign', number ?? sign!)
    at = end
  }
  return tokens
}

function commentEnd(sql: string, start: number): number {
  const edge = /\/\*|\*\//g
  edge.lastIndex = start
  for (let depth = 0, found = edge.exec(sql); found; found = edge.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  return sql.length
}

/** A semicolon inside parentheses, or inside a function's `begin atomic … end`, ends no statement. */
export function statementsOf(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = []
  let tokens: Token[] = []
  let parentheses = 0
  let blocks = 0
  const close = () => {
    if (tokens.length > 0) statements.push({ tokens })
    tokens = []
    parentheses = 0
    blocks = 0
  }
  for (const token of tokensOf(sql)) {
    const { kind, text } = token
    if (kind === 'sign' && text === ';' && parentheses === 0 && blocks === 0) {
      close()
      continue
    }
    tokens.push(token)
    if (kind === 'sign' && text === '(') parentheses++
    else if (kind === 'sign' && text === ')') parentheses = Math.max(0, parentheses - 1)
    else if (kind === 'word' && makesRoutine(tokens)) {
      if (text === 'begin' || (text === 'case' && blocks > 0)) blocks++
      else if (text === 'end' && blocks > 0) blocks--
    }
  }
  close()
  return statements
}

/** Whether the statement begins with `create [or replace] function` or `procedure`. */
export function makesRoutine(tokens: readonly Token[]): boolean {
  if (tokens[0]?.text !== 'create') return false
  const what = tokens[1]?.text === 'or' ? tokens[3]?.text : tokens[1]?.text
  return what === 'function' || what === 'procedure'
}
