/** What checks a request's data: a schema where one is given, and nothing where a type only says so. */
import type { Application } from '../application.ts'
import {
  type ClassDeclaration,
  type Fact,
  type HandlerParameter,
  hasRole,
  type Mark,
  option,
  type Place,
} from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { isGiven, schemaOf } from '../schemas.ts'
import type { Circumstances } from './index.ts'
import { once } from './once.ts'

export function refuseSchemas(application: Application, circumstances: Circumstances): Refusal<Place>[] {
  const { byId, declarations } = application
  return declarations.classes.flatMap((declaration) => {
    if (!hasRole(declaration, 'Controller')) return []
    const found = [...refuseParameters(declaration, application, circumstances)]
    for (const { mark, schema } of schemaClassesOf(declaration)) {
      if (byId.get(schema.id)?.isSchema === false) found.push(notStandard(mark, schema, 'a class'))
    }
    return found
  })
}

const refuseParameters = once((declaration) =>
  judgedParameters(declaration).flatMap(({ mark, parameter }) => {
    const schema = schemaOf(mark)
    if (!schema) return refuseUnchecked(mark, parameter)
    const found = misfit(schema)
    return found === undefined ? [] : [notStandard(mark, schema, found)]
  }),
)

type ClassFact = Fact & { kind: 'class' }

const known = new WeakMap<ClassDeclaration, { mark: Mark; schema: ClassFact }[]>()

/** Whether a class is a schema is decided where it stands, which may be another file: that is asked anew. */
function schemaClassesOf(declaration: ClassDeclaration): { mark: Mark; schema: ClassFact }[] {
  const before = known.get(declaration)
  if (before) return before
  const found = judgedParameters(declaration).flatMap(({ mark }) => {
    const schema = schemaOf(mark)
    return schema?.kind === 'class' ? [{ mark, schema }] : []
  })
  known.set(declaration, found)
  return found
}

function judgedParameters({ members }: ClassDeclaration): { mark: Mark; parameter: HandlerParameter }[] {
  return members
    .filter(({ marks }) => marks.length > 0)
    .flatMap(({ parameters }) =>
      parameters.flatMap((parameter) => {
        const [mark] = parameter.marks
        return mark ? [{ mark, parameter }] : []
      }),
    )
}

function notStandard(mark: Mark, schema: Fact, found: string): Refusal<Place> {
  const isWrapped = option(schema, 'schema') !== undefined
  return refusal('schema-not-standard', schema.place, { injector: mark.name, found, isWrapped })
}

/** What is certainly no schema; what is computed is asked when the worker starts. */
function misfit(schema: Fact): string | undefined {
  if (schema.kind === 'class') return undefined
  if (schema.kind === 'record') {
    return schema.entries.some(({ key }) => key === '~standard' || key === '...') ? undefined : 'an object'
  }
  if (schema.kind === 'list') return 'a list'
  if (schema.kind === 'unknown') return schema.isType ? 'a type' : undefined
  return JSON.stringify(schema.value)
}

/** Types whose values a request's text cannot be. */
const noText: ReadonlySet<string> = new Set(['number', 'boolean', 'bigint', 'Date', 'object'])

function refuseUnchecked({ name, arguments: given }: Mark, { type, typeNames, typePlace }: HandlerParameter) {
  if (name === 'Body') {
    const isUnchecked = type !== '' && !typeNames.includes('unknown') && !typeNames.includes('any')
    return isUnchecked ? [refusal('body-unchecked', typePlace, { type })] : []
  }
  const takesText = name === 'Param' || name === 'Header' || (name === 'Query' && isGiven(given[0]))
  const isText = typeNames.includes('string') || typeNames.includes('unknown') || typeNames.includes('any')
  const isMistyped = takesText && !isText && typeNames.some((one) => noText.has(one))
  return isMistyped ? [refusal('text-typed-otherwise', typePlace, { injector: name, type })] : []
}
