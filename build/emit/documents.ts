/** The files beside the worker: bindings, the type of role names, OpenAPI, and a client. */
import type { RouteTable } from '../../runtime/table.ts'
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Span } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import { locate } from '../locate.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import type { SourceTexts } from '../sources.ts'
import type { Steps } from '../steps.ts'
import { bindingsFile, bindingsText } from './bindings.ts'
import { clientSource, clientTypes } from './client.ts'
import { type Descriptions, describe } from './descriptions.ts'
import type { OpenedTypes } from './handler-types.ts'
import type { EvaluatedSchema } from './json-schemas.ts'
import { openapiText } from './openapi.ts'
import type { RecordedAnswers } from './openapi-answers.ts'
import { roleNames } from './role-names.ts'

interface Document {
  /** Relative to the folder of the build's output. */
  name: string
  contents: () => string
}

/** The documents that follow from the table alone. @param hasDatabase the worker contains the database driver. */
export function tableDocuments(
  table: RouteTable,
  { name, roles }: { name: string; roles: readonly DeclaredRole[] },
  hasDatabase: boolean,
): Document[] {
  const bindings = bindingsText(table, hasDatabase, name)
  return [
    ...(bindings === undefined ? [] : [{ name: bindingsFile, contents: () => bindings }]),
    { name: 'roles.d.ts', contents: () => roleNames(roles.map((role) => role.name)) },
  ]
}

export interface TypedDocumentsOptions {
  /** The project's name. */
  name: string
  /** Absolute. */
  root: string
  /** The texts that were checked. */
  texts: SourceTexts
  evaluated: readonly (EvaluatedSchema | undefined)[]
  types: OpenedTypes
  /** Answers of a run, which become examples of the operations. */
  answers?: RecordedAnswers | undefined
}

export interface TypedDocuments {
  files: Document[]
  refusals: Refusal[]
  /** Absolute paths of the project's files that decided the documents. */
  inputs: string[]
}

/** The documents that describe requests and results, for which the type checker is needed. */
export function* typedDocuments(linked: Linked, options: TypedDocumentsOptions): Steps<TypedDocuments> {
  const { name, evaluated, types, answers } = options
  const described = yield* describe(linked, evaluated, types)
  return {
    files: [
      { name: 'openapi.json', contents: () => openapiText(linked.table, described, name, answers) },
      { name: 'client.d.ts', contents: () => clientTypes(linked, described) },
      { name: 'client.js', contents: () => clientSource },
    ],
    refusals: checkResults(linked, described, options),
    inputs: described.files,
  }
}

/** Warns of results whose types JSON Schema cannot describe. */
function checkResults(
  { table, classes }: Linked,
  { results }: Descriptions,
  { root, texts }: TypedDocumentsOptions,
): Refusal[] {
  return table.routes.flatMap(({ controller, handler, file, line }, index) => {
    const { unrepresentable = [] } = results[index] ?? {}
    if (unrepresentable.length === 0) return []
    const absolute = `${root}/${file}`
    const lineStarts = texts.lineStartsOf(absolute)
    const place = lineSpan(file, texts.textOf(absolute) ?? '', lineStarts[line - 1] ?? 0)
    const unsaid = unrepresentable.slice(0, mostNamed).join(', ')
    const about = { handler: `${classes[controller]!.name}.${handler}`, unsaid }
    const warning = refusal('result-partly-unsaid', place, about)
    return [{ ...warning, place: locate(place, lineStarts), related: [] }]
  })
}

/** Largest number of types that one warning names. */
const mostNamed = 5

/** The line that begins at an offset, without the blanks around it. */
function lineSpan(file: string, source: string, start: number): Span {
  const [text = ''] = /^.*/.exec(source.slice(start)) ?? []
  const indent = text.length - text.trimStart().length
  return { file, start: start + indent, end: start + text.trimEnd().length }
}
