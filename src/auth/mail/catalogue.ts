/** All templates of a stack: the built-in ones, those that the project declares, and what was changed of both. */
import { Injectable } from '@stack/backend'
import {
  builtInTemplates,
  type DeclaredTemplate,
  type TemplateParts,
  type TemplateVariable,
} from '../../wire/templates.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { commonExamples, type TemplateKey, templates, variablesOf } from './templates.ts'

/** Key of a template that the project declares, as it was found in the database. */
export type DeclaredKey = string & { readonly isDeclared: unique symbol }

/** The texts of a template, without its channel. */
export type Texts = Omit<TemplateParts, 'channel'>

export type KnownTemplate = { channel: TemplateParts['channel'] } & (
  | { origin: 'built_in'; key: TemplateKey }
  | { origin: 'project'; key: DeclaredKey }
) & {
    /** Without those that every template may use. */
    variables: readonly TemplateVariable[]
    default: Texts
    /** The texts that were put over the management surface, or `null`. */
    changed: Texts | null
    /** Differs between any two states of the template (RFC 9110 section 8.8.3). */
    etag: string
    updated_at: Date | null
    /** Id of an operator, or `service` for the service-role key. */
    updated_by: string | null
  }

interface DeclaredRow extends Omit<DeclaredTemplate, 'key'> {
  key: DeclaredKey
  revision: string
  updated_at: Date
}

interface ChangedRow extends Texts {
  key: string
  revision: string
  updated_at: Date
  updated_by: string | null
}

@Injectable()
export class Catalogue {
  /** Built-in templates first, then the project's by their keys. */
  async list(): Promise<KnownTemplate[]> {
    const declared = await inRequest<DeclaredRow>`select * from auth.project_templates order by key`
    const changed = await inRequest<ChangedRow>`select * from auth.templates`
    const changes = new Map(changed.map((row) => [row.key, row]))
    return [
      ...builtInTemplates.map((key) => builtIn(key, changes.get(key))),
      ...declared.map((row) => ofProject(row, changes.get(row.key))),
    ]
  }

  async find(key: string, sql: Sql = inRequest): Promise<KnownTemplate | undefined> {
    const [changed] = await sql<ChangedRow>`select * from auth.templates where key = ${key}`
    if (isBuiltIn(key)) return builtIn(key, changed)
    const [declared] = await sql<DeclaredRow>`select * from auth.project_templates where key = ${key}`
    return declared && ofProject(declared, changed)
  }

  /** Waits for a change of the template that is under way, so that what is read afterwards is what is replaced. */
  async lock(key: string): Promise<void> {
    await inRequest`select pg_advisory_xact_lock(hashtextextended(${`auth.templates ${key}`}, 0))`
  }

  async change(key: string, { subject, body, body_text }: Texts, by: string): Promise<void> {
    await inRequest`
      insert into auth.templates (key, subject, body, body_text, revision, updated_by)
      values (${key}, ${subject}, ${body}, ${body_text}, nextval('auth.template_revisions'), ${by})
      on conflict (key) do update set subject = excluded.subject, body = excluded.body, body_text = excluded.body_text,
        revision = excluded.revision, updated_at = now(), updated_by = excluded.updated_by`
  }

  /** The default counts again. */
  async reset(key: string): Promise<void> {
    await inRequest`delete from auth.templates where key = ${key}`
  }

  /** Declares the template, or changes its default to what is declared now. What was changed of it stays. */
  async declare({ key, channel, subject, body, body_text, variables }: DeclaredTemplate): Promise<void> {
    await inRequest`
      insert into auth.project_templates (key, channel, subject, body, body_text, variables)
      values (${key}, ${channel}, ${subject}, ${body}, ${body_text}, ${JSON.stringify(variables)})
      on conflict (key) do update set channel = excluded.channel, subject = excluded.subject, body = excluded.body,
        body_text = excluded.body_text, variables = excluded.variables, revision = excluded.revision, updated_at = now()`
  }

  /** Removes the template with what was changed of it. Messages of it that still wait are dropped. */
  async withdraw(key: string): Promise<boolean> {
    const removed = await inRequest`delete from auth.project_templates where key = ${key} returning key`
    if (removed.length > 0) await this.reset(key)
    return removed.length > 0
  }

  async countDeclared(): Promise<number> {
    await inRequest`select pg_advisory_xact_lock(hashtextextended('auth.project_templates', 0))`
    const [row] = await inRequest<{ count: number }>`select count(*)::int as count from auth.project_templates`
    return row!.count
  }
}

export function isBuiltIn(key: string): key is TemplateKey {
  return Object.hasOwn(templates, key)
}

/** The texts that count: the changed ones, or else the default. */
export function partsOf({ channel, changed, default: texts }: KnownTemplate): TemplateParts {
  return { channel, ...(changed ?? texts) }
}

/** An example for each variable. */
export function examplesOf({ variables }: KnownTemplate): Record<string, string> {
  return Object.fromEntries([...variables, ...commonExamples].map(({ name, example }) => [name, example]))
}

function builtIn(key: TemplateKey, changed: ChangedRow | undefined): KnownTemplate {
  const { channel, subject, body, body_text, ...variables } = templates[key]
  const texts = channel === 'sms' ? { subject: null, body, body_text: null } : { subject, body, body_text }
  return { origin: 'built_in', key, channel, variables: variablesOf(variables), default: texts, ...stateOf(changed) }
}

function ofProject({ key, channel, variables, ...row }: DeclaredRow, changed: ChangedRow | undefined): KnownTemplate {
  return { origin: 'project', key, channel, variables, default: textsOf(row), ...stateOf(changed, row) }
}

const textsOf = ({ subject, body, body_text }: Texts): Texts => ({ subject, body, body_text })

function stateOf(changed: ChangedRow | undefined, declared?: Pick<DeclaredRow, 'revision' | 'updated_at'>) {
  return {
    changed: changed ? textsOf(changed) : null,
    etag: `"${changed?.revision ?? 0}.${declared?.revision ?? 0}"`,
    updated_at: changed?.updated_at ?? declared?.updated_at ?? null,
    updated_by: changed?.updated_by ?? null,
  }
}
