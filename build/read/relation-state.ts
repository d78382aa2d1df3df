/** The tables and views of a project while its migrations are read: names, row-level security and grants. */
import type { Relation, Span } from '../declaration.ts'
import type { PrivilegeClause } from './privileges.ts'
import type { SqlName } from './sql-cursor.ts'

interface Grant {
  place: Span
  to: string
  /** The grant covers only some columns. A revoke of columns takes back such a grant, and no other one. */
  isOfColumns: boolean
}

export interface RelationState
  extends Pick<Relation, 'name' | 'kind' | 'place' | 'hasRowSecurity' | 'runsAsOwner' | 'isPublic'> {
  schema: string
  /** Key: grantee, a space, privilege. */
  grants: Map<string, Grant>
}

/** A grant that `alter default privileges` adds to each table that is created afterwards. */
interface DefaultGrant extends Grant {
  /** `undefined` matches every schema. */
  schema: string | undefined
  privileges: string[]
}

export class RelationStates {
  #states: RelationState[] = []
  #defaults: DefaultGrant[] = []
  /** The schema of a name that gives none. `undefined` after the search path was changed. */
  #schema: string | undefined
  /** The same at the beginning of each migration. */
  #firstSchema: string | undefined = 'public'

  /** The runner resets the search path between two files. */
  beginMigration(): void {
    this.#schema = this.#firstSchema
  }

  /** A statement set the search path for the rest of this file. */
  forgetSearchPath(): void {
    this.#schema = undefined
  }

  /** A statement set the search path of a role or a database, so every later file begins with it. */
  forgetFirstSearchPath(): void {
    this.#firstSchema = undefined
  }

  create(
    { schema = this.#schema, name }: SqlName,
    { kind, place, runsAsOwner }: Pick<RelationState, 'kind' | 'place' | 'runsAsOwner'>,
  ): void {
    if (schema === undefined) return
    const grants = new Map<string, Grant>()
    for (const { schema: grantedSchema, privileges, ...grant } of this.#defaults) {
      if (grantedSchema === undefined || grantedSchema === schema)
        for (const privilege of privileges) grants.set(`${grant.to} ${privilege}`, grant)
    }
    this.#states.push({ schema, name, kind, place, hasRowSecurity: false, runsAsOwner, isPublic: false, grants })
  }

  /** @returns every relation that the name may mean. */
  named({ schema = this.#schema, name }: SqlName): RelationState[] {
    return this.#states.filter((one) => one.name === name && (schema === undefined || one.schema === schema))
  }

  grant({ names, schemas, roles, privileges }: PrivilegeClause, place: Span): void {
    // a name whose schema is not known proves no grant
    const certain = names.filter(({ schema = this.#schema }) => schema !== undefined)
    for (const { grants } of schemas ? this.#inSchemas(schemas) : certain.flatMap((name) => this.named(name))) {
      for (const to of roles) {
        for (const { privilege, isOfColumns } of privileges) {
          const key = `${to} ${privilege}`
          const before = grants.get(key)
          if (!before || (before.isOfColumns && !isOfColumns)) grants.set(key, { place, to, isOfColumns })
        }
      }
    }
  }

  revoke({ names, schemas, roles, privileges }: PrivilegeClause): void {
    for (const { grants } of schemas ? this.#inSchemas(schemas) : names.flatMap((name) => this.named(name))) {
      for (const to of roles) {
        for (const { privilege, isOfColumns } of privileges) {
          const key = `${to} ${privilege}`
          if (!isOfColumns || grants.get(key)?.isOfColumns) grants.delete(key)
        }
      }
    }
  }

  /** @param schemas `undefined` among them stands for every schema. */
  grantByDefault({ roles, privileges }: PrivilegeClause, schemas: readonly (string | undefined)[], place: Span): void {
    const names = privileges.map(({ privilege }) => privilege)
    for (const schema of schemas) {
      for (const to of roles) this.#defaults.push({ place, to, isOfColumns: false, schema, privileges: names })
    }
  }

  /** A revoke of default privileges may concern any of them, so none is proved any more. */
  forgetDefaultGrants(): void {
    this.#defaults = []
  }

  forget(states: readonly RelationState[]): void {
    this.#states = this.#states.filter((one) => !states.includes(one))
  }

  forgetSchema(name: string | undefined): void {
    this.#states = this.#states.filter(({ schema }) => schema !== name)
  }

  /** `cascade` drops views that the statement does not name. */
  forgetViews(): void {
    this.#states = this.#states.filter(({ kind }) => kind === 'table')
  }

  forgetAll(): void {
    this.#states = []
  }

  relations(): Relation[] {
    return this.#states.map(({ grants, schema, name, ...relation }) => {
      const [first] = grants.values()
      const written = schema === 'public' ? quoted(name) : `${quoted(schema)}.${quoted(name)}`
      return { ...relation, name: written, granted: first && { to: first.to, place: first.place } }
    })
  }

  #inSchemas(schemas: readonly string[]): RelationState[] {
    return this.#states.filter(({ schema }) => schemas.includes(schema))
  }
}

/** Quotes a name where Postgres would not take it without quotes. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
