/**
 * What a project's migrations, run one after the other, leave of tables and views: who may reach them, and what stands
 * between them and a user (contract 5.5). Only what the text proves is told. Where a statement may do more than its text
 * says, nothing is: the catalog is asked before migrations are committed.
 */
import type { Relation, Span } from '../declaration.ts'
import { makesRoutine, type SqlStatement, statementsOf, type Token } from './sql.ts'

export interface MigrationText {
  /** Relative to the project, with `/`. */
  file: string
  statements: SqlStatement[]
}

export function readMigration(file: string, sql: string): MigrationText {
  return { file, statements: statementsOf(sql) }
}

/** Everybody who is served has the first role, and every role is a member of the second. */
const grantees: ReadonlySet<string> = new Set(['backend_authenticated', 'public'])

const tablePrivileges = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']

/** Words of SQL in a text that may take back what the statements around it prove. */
const undoing =
  /\brow\s+level\b|security_invoker|@stack|\b(?:revoke|drop|rename|search_path)\b|comment\s+on|set\s+schema/i

interface Grant {
  place: Span
  to: string
  /** A grant on columns alone is taken back with them. */
  isOfColumns: boolean
}

interface State extends Pick<Relation, 'name' | 'kind' | 'place' | 'hasRowSecurity' | 'runsAsOwner' | 'isPublic'> {
  schema: string
  /** By grantee and privilege. */
  grants: Map<string, Grant>
}

interface DefaultGrant extends Grant {
  /** `undefined` matches any schema. */
  schema: string | undefined
  privileges: string[]
}

/** @param migrations in the order in which they run. */
export function relationsOf(migrations: readonly MigrationText[]): Relation[] {
  const isOpaque = migrations.some(({ statements }) =>
    statements.some(({ tokens }) => {
      const runsText = makesRoutine(tokens) || ['do', 'call', 'prepare', 'execute'].includes(tokens[0]!.text)
      return runsText && tokens.some(({ kind, text }) => kind === 'text' && undoing.test(text))
    }),
  )
  if (isOpaque) return []
  const folded = new Fold()
  for (const migration of migrations) folded.run(migration)
  return folded.relations()
}

class Fold {
  #states: State[] = []
  #defaults: DefaultGrant[] = []
  #file = ''
  /** What a name without a schema means; `undefined` where the search path was changed. */
  #schema: string | undefined
  /** The same at the beginning of a session. */
  #firstSchema: string | undefined = 'public'

  run({ file, statements }: MigrationText): void {
    this.#file = file
    this.#schema = this.#firstSchema
    for (const { tokens } of statements) this.#apply(new Cursor(tokens))
  }

  relations(): Relation[] {
    return this.#states.map(({ grants, schema, name, ...relation }) => {
      const [first] = grants.values()
      const written = schema === 'public' ? asWritten(name) : `${asWritten(schema)}.${asWritten(name)}`
      return { ...relation, name: written, granted: first && { to: first.to, place: first.place } }
    })
  }

  #apply(at: Cursor): void {
    if (at.takes('create')) this.#create(at)
    else if (at.takes('alter')) this.#alter(at)
    else if (at.takes('drop')) this.#drop(at)
    else if (at.takes('comment', 'on')) this.#comment(at)
    else if (at.takes('grant')) this.#grant(at)
    else if (at.takes('revoke')) this.#revoke(at)
    else if (at.tokens.some(({ text }) => text === 'search_path' || text === "'search_path'")) this.#schema = undefined
    else if (at.takes('set', 'schema')) this.#schema = undefined
  }

  #create(at: Cursor): void {
    const isReplaced = at.takes('or', 'replace')
    const isLocal = at.takes('global') || at.takes('local')
    if (isLocal || at.takes('temp') || at.takes('temporary')) return
    at.takes('unlogged')
    at.takes('foreign')
    at.takes('recursive')
    const isTable = at.takes('table')
    const isMaterialized = !isTable && at.takes('materialized', 'view')
    if (!isTable && !isMaterialized && !at.takes('view')) return
    at.takes('if', 'not', 'exists')
    const name = at.name()
    if (!name) return
    const runsAsOwner = !isTable && (isMaterialized || !isInvoker(at.rest()))
    const [before] = this.#named(name)
    if (before && isReplaced) before.runsAsOwner = runsAsOwner // the new list of options is all that counts
    const schema = name.schema ?? this.#schema
    if (before || schema === undefined) return
    const grants = new Map<string, Grant>()
    for (const { schema: of, privileges, ...grant } of this.#defaults) {
      if (of === undefined || of === schema)
        for (const privilege of privileges) grants.set(`${grant.to} ${privilege}`, grant)
    }
    this.#states.push({
      schema,
      name: name.name,
      kind: isTable ? 'table' : isMaterialized ? 'materialized view' : 'view',
      place: this.#place(name.first, name.last),
      hasRowSecurity: false,
      runsAsOwner,
      isPublic: false,
      grants,
    })
  }

  #alter(at: Cursor): void {
    if (at.takes('default', 'privileges')) this.#defaultPrivileges(at)
    else if (at.takes('schema')) this.#forgetSchema(at.name()?.name)
    else if (at.takes('role') || at.takes('user') || at.takes('database')) {
      if (hasOption(at.tokens, 'search_path')) this.#firstSchema = undefined
    } else if (takesRelation(at)) this.#alterRelation(at)
  }

  #alterRelation(at: Cursor): void {
    at.takes('if', 'exists')
    at.takes('only')
    const name = at.name()
    if (!name) return
    const found = this.#named(name)
    const isOnly = found.length === 1
    for (const action of splitAtCommas(at.rest())) {
      const words = new Cursor(action)
      words.takes('*')
      if (words.takes('enable', 'row', 'level', 'security')) for (const one of found) one.hasRowSecurity = true
      // what is taken away must be that very table's
      if (words.takes('disable', 'row', 'level', 'security') && isOnly) found[0]!.hasRowSecurity = false
      if (words.takes('rename', 'to') || words.takes('set', 'schema')) this.#forget(found)
      if (words.takes('set') && hasOption(action, 'security_invoker')) {
        for (const one of found)
          if (one.kind === 'view' && (isInvoker(action) || isOnly)) one.runsAsOwner = !isInvoker(action)
      }
      if (words.takes('reset') && isOnly && found[0]!.kind === 'view' && hasOption(action, 'security_invoker')) {
        found[0]!.runsAsOwner = true
      }
    }
  }

  #drop(at: Cursor): void {
    const tokens = at.rest()
    if (tokens.some(({ text }) => text === 'cascade')) this.#forget(this.#states.filter(({ kind }) => kind !== 'table'))
    if (at.takes('owned')) this.#forget(this.#states)
    const isSchema = at.takes('schema')
    if (!isSchema && !takesRelation(at)) return
    at.takes('if', 'exists')
    for (const part of splitAtCommas(at.rest())) {
      const name = new Cursor(part).name()
      if (name && isSchema) this.#forgetSchema(name.name)
      else if (name) this.#forget(this.#named(name))
    }
  }

  #comment(at: Cursor): void {
    const name = takesRelation(at) ? at.name() : undefined
    if (!name) return
    const isPublic = at.rest().some(({ kind, text }) => kind === 'text' && /@stack\s+public\b/.test(text))
    const found = this.#named(name)
    for (const one of found) if (isPublic || found.length === 1) one.isPublic = isPublic
  }

  #grant(at: Cursor): void {
    const clause = readPrivileges(at, 'to')
    if (!clause) return
    const found = clause.schemas ? this.#inSchemas(clause.schemas) : clause.names.flatMap((name) => this.#sure(name))
    const place = this.#place(at.tokens[0]!, at.tokens.at(-1)!)
    for (const state of found) {
      for (const to of clause.roles) {
        for (const { privilege, isOfColumns } of clause.privileges) {
          const key = `${to} ${privilege}`
          const before = state.grants.get(key)
          if (!before || (before.isOfColumns && !isOfColumns)) state.grants.set(key, { place, to, isOfColumns })
        }
      }
    }
  }

  #revoke(at: Cursor): void {
    if (at.takes('grant', 'option', 'for')) return
    const clause = readPrivileges(at, 'from')
    if (!clause) return
    const found = clause.schemas ? this.#inSchemas(clause.schemas) : clause.names.flatMap((name) => this.#named(name))
    for (const { grants } of found) {
      for (const to of clause.roles) {
        for (const { privilege, isOfColumns } of clause.privileges) {
          const key = `${to} ${privilege}`
          if (!isOfColumns || grants.get(key)?.isOfColumns) grants.delete(key)
        }
      }
    }
  }

  /** What is created from now on is granted; of another role's creations nothing is known. */
  #defaultPrivileges(at: Cursor): void {
    const isOfOther = at.takes('for', 'role') || at.takes('for', 'user')
    if (isOfOther) at.names()
    const schemas: (string | undefined)[] = at.takes('in', 'schema') ? at.names().map(({ name }) => name) : [undefined]
    if (at.takes('revoke')) this.#defaults = []
    if (isOfOther || !at.takes('grant')) return
    const clause = readPrivileges(at, 'to')
    if (!clause?.isOfTables) return
    const place = this.#place(at.tokens[0]!, at.tokens.at(-1)!)
    const privileges = clause.privileges.map(({ privilege }) => privilege)
    for (const schema of schemas) {
      for (const to of clause.roles) this.#defaults.push({ place, to, isOfColumns: false, schema, privileges })
    }
  }

  /** Every relation that the name may mean. */
  #named({ schema = this.#schema, name }: Name): State[] {
    return this.#states.filter((one) => one.name === name && (schema === undefined || one.schema === schema))
  }

  /** The relation, where the name means that one alone. */
  #sure(name: Name): State[] {
    return (name.schema ?? this.#schema) === undefined ? [] : this.#named(name)
  }

  #inSchemas(schemas: readonly string[]): State[] {
    return this.#states.filter(({ schema }) => schemas.includes(schema))
  }

  #forget(states: readonly State[]): void {
    this.#states = this.#states.filter((one) => !states.includes(one))
  }

  #forgetSchema(name: string | undefined): void {
    this.#forget(this.#states.filter(({ schema }) => schema === name))
  }

  #place({ start }: Token, { end }: Token): Span {
    return { file: this.#file, start, end }
  }
}

interface Name {
  schema: string | undefined
  name: string
  first: Token
  last: Token
}

/** Reads a statement's tokens from the left. */
class Cursor {
  readonly tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  /** Passes over these words, if they are next. */
  takes(...words: string[]): boolean {
    const isNext = words.every((word, index) => {
      const token = this.tokens[this.#at + index]
      return token?.text === word && token.kind !== 'quoted' && token.kind !== 'text'
    })
    if (isNext) this.#at += words.length
    return isNext
  }

  /** A name, with its schema where it has one. */
  name(): Name | undefined {
    const first = this.#identifier()
    if (!first) return undefined
    if (!this.takes('.')) return { schema: undefined, name: first.text, first, last: first }
    const last = this.#identifier()
    return last && { schema: first.text, name: last.text, first, last }
  }

  /** Names with commas between them. */
  names(): Name[] {
    const names: Name[] = []
    do {
      const name = this.name()
      if (name) names.push(name)
    } while (this.takes(','))
    return names
  }

  rest(): readonly Token[] {
    return this.tokens.slice(this.#at)
  }

  next(): Token | undefined {
    return this.tokens[this.#at++]
  }

  #identifier(): Token | undefined {
    const token = this.tokens[this.#at]
    if (token?.kind !== 'word' && token?.kind !== 'quoted') return undefined
    this.#at++
    return token
  }
}

function asWritten(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

/** Passes over the kind of a relation, if one is next. */
function takesRelation(at: Cursor): boolean {
  at.takes('foreign')
  at.takes('materialized')
  return at.takes('table') || at.takes('view')
}

interface Privileges {
  privileges: { privilege: string; isOfColumns: boolean }[]
  /** Relations that are named … */
  names: Name[]
  /** … or all of these schemas. */
  schemas: string[] | undefined
  /** `on tables`, of default privileges. */
  isOfTables: boolean
  /** Those among the grantees that every user is. */
  roles: string[]
}

/** From the privileges of a `grant` or `revoke` to its end; `undefined` where it is about something else than relations. */
function readPrivileges(at: Cursor, preposition: 'to' | 'from'): Privileges | undefined {
  const privileges: Privileges['privileges'] = []
  for (;;) {
    const token = at.next()
    if (!token) return undefined // a role that is granted to another one
    if (token.kind === 'word' && token.text === 'on') break
    const last = privileges.at(-1)
    if (token.text === '(') {
      if (!last) return undefined
      last.isOfColumns = true
      for (let inner = at.next(); inner && inner.text !== ')'; ) inner = at.next()
    } else if (token.kind === 'word' && token.text !== 'privileges') {
      privileges.push({ privilege: token.text, isOfColumns: false })
    }
  }
  let names: Name[] = []
  let schemas: string[] | undefined
  const isOfTables = at.takes('tables')
  if (at.takes('all', 'tables', 'in', 'schema')) schemas = at.names().map(({ name }) => name)
  else if (at.takes('all') || others.some((word) => at.takes(word))) return undefined
  else if (!isOfTables) {
    at.takes('table')
    names = at.names()
  }
  if (!at.takes(preposition)) return undefined
  const roles: string[] = []
  do {
    at.takes('group')
    const role = at.name()
    if (role && grantees.has(role.name)) roles.push(role.name)
  } while (at.takes(','))
  const whole = privileges.flatMap(({ privilege, isOfColumns }) =>
    (privilege === 'all' ? tablePrivileges : [privilege]).map((one) => ({ privilege: one, isOfColumns })),
  )
  return { privileges: whole, names, schemas, isOfTables, roles }
}

/** What else can be granted. */
const others = [
  'sequence',
  'sequences',
  'database',
  'domain',
  'foreign',
  'function',
  'functions',
  'language',
  'large',
  'parameter',
  'procedure',
  'procedures',
  'routine',
  'routines',
  'schema',
  'schemas',
  'tablespace',
  'type',
  'types',
]

function splitAtCommas(tokens: readonly Token[]): Token[][] {
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

function hasOption(tokens: readonly Token[], option: string): boolean {
  return tokens.some(({ text }) => text === option)
}

/** Whether options say `security_invoker`, alone or with anything that Postgres does not take for false. */
function isInvoker(tokens: readonly Token[]): boolean {
  const end = tokens.findIndex(({ text }) => text === 'as') // of a view: what follows is its query
  const options = end === -1 ? tokens : tokens.slice(0, end)
  const at = options.findIndex(({ text }) => text === 'security_invoker')
  if (at === -1) return false
  if (options[at + 1]?.text !== '=') return true
  return !/^'?(?:f|fa|fal|fals|false|of|off|n|no|0)'?$/i.test(options[at + 2]?.text ?? '')
}
