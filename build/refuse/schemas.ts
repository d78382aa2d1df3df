/** Checks schemas of parameters, and types of parameters without a schema. */
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
      if (byId.get(schema.id)?.isSchema === false) found.push(notStandardRefusal(decorator, schema, 'a class'))
    }
    return found
  })
}

const checkParameters = once((declaration) =>
  injectedParameters(declaration).flatMap(({ decorator, parameter }) => {
    const schema = schemaOf(decorator)
    if (!schema) return checkUnchecked(decorator, parameter)
    const found = nonSchemaOf(schema)
    return found === undefined ? [] : [notStandardRefusal(decorator, schema, found)]
  }),
)

type ClassFact = StaticValue & { kind: 'class' }

const known = new WeakMap<ClassDeclaration, { decorator: Decorator; schema: ClassFact }[]>()

/** A class may be declared in another file, so whether it is a schema is asked in each build. */
function schemaClassesOf(declaration: ClassDeclaration): { decorator: Decorator; schema: ClassFact }[] {
  const before = known.get(declaration)
  if (before) return before
  const found = injectedParameters(declaration).flatMap(({ decorator }) => {
    const schema = schemaOf(decorator)
    return schema?.kind === 'class' ? [{ decorator, schema }] : []
  })
  known.set(declaration, found)
  return found
}

function injectedParameters({ members }: ClassDeclaration): { decorator: Decorator; parameter: HandlerParameter }[] {
  return members
    .filter(({ decorators }) => decorators.length > 0)
    .flatMap(({ parameters }) =>
      parameters.flatMap((parameter) => {
        const [decorator] = parameter.decorators
        return decorator ? [{ decorator, parameter }] : []
      }),
    )
}

function notStandardRefusal(decorator: Decorator, schema: StaticValue, found: string): Refusal<Span> {
  const isWrapped = option(schema, 'schema') !== undefined
  return refusal('schema-not-standard', schema.place, { injector: decorator.name, found, isWrapped })
}

/** @returns words for a value that cannot be a schema. A computed value may be one: the build evaluates it later. */
function nonSchemaOf(schema: StaticValue): string | undefined {
  if (schema.kind === 'class') return undefined
  if (schema.kind === 'record') {
    return schema.entries.some(({ key }) => key === '~standard' || key === '...') ? undefined : 'an object'
  }
  if (schema.kind === 'list') return 'a list'
  if (schema.kind === 'unknown') return schema.isType ? 'a type' : undefined
  return JSON.stringify(schema.value)
}

/** Types that the text of a request cannot have. */
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
