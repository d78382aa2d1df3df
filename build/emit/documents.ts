/** What is made of the table beside the worker: bindings, role names as a type, OpenAPI, and a client. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Span } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import type { TypeReader } from './answers.ts'
import { bindingsFile, bindingsText } from './bindings.ts'
import { clientSource, clientTypes } from './client.ts'
import { type Descriptions, describe } from './descriptions.ts'
import { located } from './inspect.ts'
import type { SchemaFacts } from './json-schemas.ts'
import { openapiText } from './openapi.ts'
import { roleNames } from './role-names.ts'

export interface DocumentOptions {
  name: string
  roles: readonly DeclaredRole[]
  /** Absolute. */
  root: string
  program: Program
  /** What evaluating the schemas told. */
  facts: readonly (SchemaFacts | undefined)[]
  types: TypeReader
  /** The worker has the driver in it. */
  hasDatabase: boolean
}

export interface Documents {
  files: { name: string; contents: () => string }[]
  refusals: Refusal[]
  /** Files of the project that decided them, absolute. */
  inputs: string[]
}

export function documents(linked: Linked, options: DocumentOptions): Documents {
  const { name, roles, facts, types, hasDatabase, program } = options
  const described = describe(linked, facts, (asked, taken) => types.read(linked, asked, taken))
  const bindings = bindingsText(linked.table, hasDatabase, name)
  return {
    files: [
      ...(bindings === undefined ? [] : [{ name: bindingsFile, contents: () => bindings }]),
      { name: 'roles.d.ts', contents: () => roleNames(roles.map(({ name }) => name)) },
      { name: 'openapi.json', contents: () => openapiText(linked.table, described, name) },
      { name: 'client.d.ts', contents: () => clientTypes(linked, described) },
      { name: 'client.js', contents: () => clientSource },
    ],
    refusals: unsaidResults(linked, described, program),
    inputs: described.files,
  }
}

function unsaidResults({ table, classes }: Linked, { answers }: Descriptions, program: Program): Refusal[] {
  return table.routes.flatMap(({ controller, handler, file, line }, index) => {
    const { unsaid = [] } = answers[index] ?? {}
    if (unsaid.length === 0) return []
    const place = lineOf(program, file, line)
    const about = { handler: `${classes[controller]!.name}.${handler}`, unsaid: unsaid.slice(0, 5).join(', ') }
    return [located(refusal('result-partly-unsaid', place, about), program)]
  })
}

/** @param file relative to the root. @param line from 1. */
function lineOf({ root, sources }: Program, file: string, line: number): Span {
  const absolute = `${root}/${file}`
  const start = sources.lineStartsOf(absolute)[line - 1] ?? 0
  const [text = ''] = /^.*/.exec(sources.textOf(absolute).slice(start)) ?? []
  const indent = text.length - text.trimStart().length
  return { file, start: start + indent, end: start + text.trimEnd().length }
}
