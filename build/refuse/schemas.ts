/** What checks a request's data: a schema where one is given, and nothing where a type only says so. */
import type { Application } from '../application.ts'
import { type Fact, type HandlerParameter, hasRole, type Mark, option, type Place } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { isGiven, schemaOf } from '../schemas.ts'

export function refuseSchemas({ declarations, byId }: Application): Refusal<Place>[] {
  const handlers = declarations.classes
    .filter((declaration) => hasRole(declaration, 'Controller'))
    .flatMap(({ members }) => members.filter(({ marks }) => marks.length > 0))
  return handlers.flatMap(({ parameters }) =>
    parameters.flatMap((parameter) => {
      const [mark] = parameter.marks
      if (!mark) return []
      const schema = schemaOf(mark)
      if (!schema) return refuseUnchecked(mark, parameter)
      const found = misfit(schema, (id) => byId.get(id)?.isSchema ?? true)
      return found === undefined
        ? []
        : [
            refusal('schema-not-standard', schema.place, {
              injector: mark.name,
              found,
              isWrapped: option(schema, 'schema') !== undefined,
            }),
          ]
    }),
  )
}

/** What is certainly no schema; what is computed is asked when the worker starts. */
function misfit(schema: Fact, isSchema: (id: string) => boolean): string | undefined {
  if (schema.kind === 'class') return isSchema(schema.id) ? undefined : 'a class'
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
