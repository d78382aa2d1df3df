/** What checks a request's data: a schema where one is given, and nothing where a type only says so. */
import type { Application } from '../application.ts'
import {
  type ClassDeclaration,
  type Decorator,
  type HandlerParameter,
  hasRole,
  option,
  type Span,
  type StaticValue,
} from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { isGiven, schemaOf } from '../schemas.ts'
import type { BuildContext } from './context.ts'
import { once } from './once.ts'

export function checkSchemas(application: Application, context: BuildContext): Refusal<Span>[] {
  const { byId, declarations } = application
  return declarations.classes.flatMap((declaration) => {
    if (!hasRole(declaration, 'Controller')) return []
    const found = [...checkParameters(declaration, application, context)]
    for (const { decorator, schema } of schemaClassesOf(declaration)) {
      if (byId.get(schema.id)?.isSchema === false) found.push(notStandard(decorator, schema, 'a class'))
    }
    return found
  })
}

const checkParameters = once((declaration) =>
  judgedParameters(declaration).flatMap(({ decorator, parameter }) => {
    const schema = schemaOf(decorator)
    if (!schema) return checkUnchecked(decorator, parameter)
    const found = misfit(schema)
    return found === undefined ? [] : [notStandard(decorator, schema, found)]
  }),
)

type ClassFact = StaticValue & { kind: 'class' }

const known = new WeakMap<ClassDeclaration, { decorator: Decorator; schema: ClassFact }[]>()

/** Whether a class is a schema is decided where it stands, which may be another file: that is asked anew. */
function schemaClassesOf(declaration: ClassDeclaration): { decorator: Decorator; schema: ClassFact }[] {
  const before = known.get(declaration)
  if (before) return before
  const found = judgedParameters(declaration).flatMap(({ decorator }) => {
    const schema = schemaOf(decorator)
    return schema?.kind === 'class' ? [{ decorator, schema }] : []
  })
  known.set(declaration, found)
  return found
}

function judgedParameters({ members }: ClassDeclaration): { decorator: Decorator; parameter: HandlerParameter }[] {
  return members
    .filter(({ decorators }) => decorators.length > 0)
    .flatMap(({ parameters }) =>
      parameters.flatMap((parameter) => {
        const [decorator] = parameter.decorators
        return decorator ? [{ decorator, parameter }] : []
      }),
    )
}

function notStandard(decorator: Decorator, schema: StaticValue, found: string): Refusal<Span> {
  const isWrapped = option(schema, 'schema') !== undefined
  return refusal('schema-not-standard', schema.place, { injector: decorator.name, found, isWrapped })
}

/** What is certainly no schema; what is computed is asked when the worker starts. */
function misfit(schema: StaticValue): string | undefined {
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

function checkUnchecked({ name, arguments: given }: Decorator, { type, typeNames, typePlace }: HandlerParameter) {
  if (name === 'Body') {
    const isUnchecked = type !== '' && !typeNames.includes('unknown') && !typeNames.includes('any')
    return isUnchecked ? [refusal('body-unchecked', typePlace, { type })] : []
  }
  const takesText = name === 'Param' || name === 'Header' || (name === 'Query' && isGiven(given[0]))
  const isText = typeNames.includes('string') || typeNames.includes('unknown') || typeNames.includes('any')
  const isMistyped = takesText && !isText && typeNames.some((one) => noText.has(one))
  return isMistyped ? [refusal('text-typed-otherwise', typePlace, { injector: name, type })] : []
}
