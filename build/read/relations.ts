/**
 * Runs a project's migrations on paper: which tables and views they leave, who may reach them, and what guards their rows
 * (contract 5.5). Only what the text proves counts. Where a statement may do more than its text says, the result is empty,
 * because `stack start` asks the catalog before it commits.
 */
import type { Relation, Span } from '../declaration.ts'
import { readPrivilegeClause } from './privileges.ts'
import { type RelationState, RelationStates } from './relation-state.ts'
import { type MigrationText, makesRoutine, type Token } from './sql.ts'
import { SqlCursor, splitAtCommas, takesRelationKind } from './sql-cursor.ts'

/** Words of SQL in a string that may take back what the statements around it prove. */
const undoing =
  /\brow\s+level\b|security_invoker|@stack|\b(?:revoke|drop|rename|search_path)\b|comment\s+on|set\s+schema/i

/** Statements that run SQL from a string. */
const runners: ReadonlySet<string> = new Set(['do', 'call', 'prepare', 'execute'])

/** @param migrations in the order in which they run. */
export function relationsOf(migrations: readonly MigrationText[]): Relation[] {
  if (migrations.some(mayUndo)) return []
  const states = new RelationStates()
  for (const { file, statements } of migrations) {
    states.beginMigration()
    for (const { tokens } of statements) runStatement(states, new SqlCursor(tokens), file)
  }
  return states.relations()
}

function mayUndo({ statements }: MigrationText): boolean {
  return statements.some(({ tokens }) => {
    const runsText = makesRoutine(tokens) || runners.has(tokens[0]!.text)
    return runsText && tokens.some(({ kind, text }) => kind === 'text' && undoing.test(text))
  })
}

function runStatement(states: RelationStates, cursor: SqlCursor, file: string): void {
  const isSearchPath = ({ text }: Token) => text === 'search_path' || text === "'search_path'"
  if (cursor.takes('create')) runCreate(states, cursor, file)
  else if (cursor.takes('alter')) runAlter(states, cursor, file)
  else if (cursor.takes('drop')) runDrop(states, cursor)
  else if (cursor.takes('comment', 'on')) runComment(states, cursor)
  else if (cursor.takes('grant')) {
    const clause = readPrivilegeClause(cursor, 'to')
    if (clause) states.grant(clause, spanOfStatement(cursor, file))
  } else if (cursor.takes('revoke')) runRevoke(states, cursor)
  else if (cursor.tokens.some(isSearchPath)) states.forgetSearchPath()
  else if (cursor.takes('set', 'schema')) states.forgetSearchPath()
}

function runCreate(states: RelationStates, cursor: SqlCursor, file: string): void {
  const isReplaced = cursor.takes('or', 'replace')
  // no request sees the temporary tables of a migration's session
  const isTemporary = cursor.takes('global') || cursor.takes('local')
  if (isTemporary || cursor.takes('temp') || cursor.takes('temporary')) return
  cursor.takes('unlogged')
  cursor.takes('foreign')
  cursor.takes('recursive')
  const isTable = cursor.takes('table')
  const isMaterialized = !isTable && cursor.takes('materialized', 'view')
  if (!isTable && !isMaterialized && !cursor.takes('view')) return
  cursor.takes('if', 'not', 'exists')
  const name = cursor.name()
  if (!name) return
  const runsAsOwner = !isTable && (isMaterialized || !isSecurityInvoker(cursor.rest()))
  const [before] = states.named(name)
  // `create or replace view` drops every option that it does not repeat
  if (before && isReplaced) before.runsAsOwner = runsAsOwner
  if (before) return
  const kind = isTable ? 'table' : isMaterialized ? 'materialized view' : 'view'
  states.create(name, { kind, place: spanOf(file, name.first, name.last), runsAsOwner })
}

function runAlter(states: RelationStates, cursor: SqlCursor, file: string): void {
  if (cursor.takes('default', 'privileges')) runDefaultPrivileges(states, cursor, file)
  else if (cursor.takes('schema')) states.forgetSchema(cursor.name()?.name)
  else if (cursor.takes('role') || cursor.takes('user') || cursor.takes('database')) {
    if (hasWord(cursor.tokens, 'search_path')) states.forgetFirstSearchPath()
  } else if (takesRelationKind(cursor)) runAlterRelation(states, cursor)
}

function runAlterRelation(states: RelationStates, cursor: SqlCursor): void {
  cursor.takes('if', 'exists')
  cursor.takes('only')
  const name = cursor.name()
  if (!name) return
  const found = states.named(name)
  for (const action of splitAtCommas(cursor.rest())) {
    const words = new SqlCursor(action)
    words.takes('*')
    if (words.takes('rename', 'to') || words.takes('set', 'schema')) states.forget(found)
    else alterRowSecurity(found, words)
    if (hasWord(action, 'security_invoker')) alterInvoker(found, words, action)
  }
}

/** An action that guards rows counts for every relation that the name may mean. One that opens rows must name one table. */
function alterRowSecurity(found: readonly RelationState[], words: SqlCursor): void {
  if (words.takes('enable', 'row', 'level', 'security')) for (const one of found) one.hasRowSecurity = true
  const [only] = found.length === 1 ? found : []
  if (words.takes('disable', 'row', 'level', 'security') && only) only.hasRowSecurity = false
}

function alterInvoker(found: readonly RelationState[], words: SqlCursor, action: readonly Token[]): void {
  const [only] = found.length === 1 ? found : []
  if (words.takes('set')) {
    for (const one of found) {
      if (one.kind === 'view' && (isSecurityInvoker(action) || only)) one.runsAsOwner = !isSecurityInvoker(action)
    }
  }
  if (words.takes('reset') && only?.kind === 'view') only.runsAsOwner = true
}

function runDrop(states: RelationStates, cursor: SqlCursor): void {
  if (hasWord(cursor.rest(), 'cascade')) states.forgetViews()
  if (cursor.takes('owned')) states.forgetAll()
  const isSchema = cursor.takes('schema')
  if (!isSchema && !takesRelationKind(cursor)) return
  cursor.takes('if', 'exists')
  for (const part of splitAtCommas(cursor.rest())) {
    const name = new SqlCursor(part).name()
    if (name && isSchema) states.forgetSchema(name.name)
    else if (name) states.forget(states.named(name))
  }
}

function runComment(states: RelationStates, cursor: SqlCursor): void {
  const name = takesRelationKind(cursor) ? cursor.name() : undefined
  if (!name) return
  const isPublic = cursor.rest().some(({ kind, text }) => kind === 'text' && /@stack\s+public\b/.test(text))
  const found = states.named(name)
  for (const one of found) if (isPublic || found.length === 1) one.isPublic = isPublic
}

function runRevoke(states: RelationStates, cursor: SqlCursor): void {
  if (cursor.takes('grant', 'option', 'for')) return
  const clause = readPrivilegeClause(cursor, 'from')
  if (clause) states.revoke(clause)
}

/** Default privileges of another role prove nothing, because the text does not say which role creates a table. */
function runDefaultPrivileges(states: RelationStates, cursor: SqlCursor, file: string): void {
  const isOfOther = cursor.takes('for', 'role') || cursor.takes('for', 'user')
  if (isOfOther) cursor.names()
  const schemas: (string | undefined)[] = cursor.takes('in', 'schema')
    ? cursor.names().map(({ name }) => name)
    : [undefined]
  if (cursor.takes('revoke')) states.forgetDefaultGrants()
  if (isOfOther || !cursor.takes('grant')) return
  const clause = readPrivilegeClause(cursor, 'to')
  if (clause?.isOfTables) states.grantByDefault(clause, schemas, spanOfStatement(cursor, file))
}

function hasWord(tokens: readonly Token[], word: string): boolean {
  return tokens.some(({ text }) => text === word)
}

/** Whether options set `security_invoker`, alone or to a value that Postgres does not take for false. */
function isSecurityInvoker(tokens: readonly Token[]): boolean {
  const end = tokens.findIndex(({ text }) => text === 'as') // the query of a view follows
  const options = end === -1 ? tokens : tokens.slice(0, end)
  const index = options.findIndex(({ text }) => text === 'security_invoker')
  if (index === -1) return false
  if (options[index + 1]?.text !== '=') return true
  return !/^'?(?:f|fa|fal|fals|false|of|off|n|no|0)'?$/i.test(options[index + 2]?.text ?? '')
}

function spanOfStatement({ tokens }: SqlCursor, file: string): Span {
  return spanOf(file, tokens[0]!, tokens.at(-1)!)
}

function spanOf(file: string, { start }: Token, { end }: Token): Span {
  return { file, start, end }
}
