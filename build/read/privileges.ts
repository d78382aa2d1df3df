/** Reads `grant` and `revoke`: which privileges on which relations, and which of the grantees include every user. */
import type { SqlCursor, SqlName } from './sql-cursor.ts'

/** Every request acts as `backend_authenticated`, and every role of Postgres is a member of `public`. */
const everyUser: ReadonlySet<string> = new Set(['backend_authenticated', 'public'])

/** The privileges that `grant all` gives on a table. */
const tablePrivileges = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']

/** The objects besides relations that the Postgres manual names after `grant … on`. */
const otherObjects = [
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

export interface PrivilegeClause {
  privileges: { privilege: string; isOfColumns: boolean }[]
  /** The relations that the statement names. Empty where it names schemas. */
  names: SqlName[]
  /** The schemas of `on all tables in schema …`. */
  schemas: string[] | undefined
  /** The statement says `on tables`, which only default privileges do. */
  isOfTables: boolean
  /** The grantees that include every user. */
  roles: string[]
}

/** @returns the clause from its privileges to its grantees, or `undefined` where the statement is not about relations. */
export function readPrivilegeClause(cursor: SqlCursor, preposition: 'to' | 'from'): PrivilegeClause | undefined {
  const privileges = readPrivileges(cursor)
  if (!privileges) return undefined
  let names: SqlName[] = []
  let schemas: string[] | undefined
  const isOfTables = cursor.takes('tables')
  if (cursor.takes('all', 'tables', 'in', 'schema')) schemas = cursor.names().map(({ name }) => name)
  else if (cursor.takes('all') || otherObjects.some((word) => cursor.takes(word))) return undefined
  else if (!isOfTables) {
    cursor.takes('table')
    names = cursor.names()
  }
  if (!cursor.takes(preposition)) return undefined
  return { privileges, names, schemas, isOfTables, roles: readGrantees(cursor) }
}

/** Reads up to `on`. A statement without `on` grants one role to another. */
function readPrivileges(cursor: SqlCursor): PrivilegeClause['privileges'] | undefined {
  const privileges: PrivilegeClause['privileges'] = []
  for (;;) {
    const token = cursor.next()
    if (!token) return undefined
    if (token.kind === 'word' && token.text === 'on') break
    const last = privileges.at(-1)
    if (token.text === '(') {
      if (!last) return undefined
      last.isOfColumns = true
      for (let inner = cursor.next(); inner && inner.text !== ')'; ) inner = cursor.next()
    } else if (token.kind === 'word' && token.text !== 'privileges') {
      privileges.push({ privilege: token.text, isOfColumns: false })
    }
  }
  return privileges.flatMap(({ privilege, isOfColumns }) =>
    (privilege === 'all' ? tablePrivileges : [privilege]).map((one) => ({ privilege: one, isOfColumns })),
  )
}

function readGrantees(cursor: SqlCursor): string[] {
  const roles: string[] = []
  do {
    cursor.takes('group')
    const role = cursor.name()
    if (role && everyUser.has(role.name)) roles.push(role.name)
  } while (cursor.takes(','))
  return roles
}
