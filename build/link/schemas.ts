/** The schemas that handlers' parameters are given, in the order of the table. Pure. */
import { type ClassDeclaration, type Decorator, type Member, type Span, text } from '../declaration.ts'
import { isWholeQuery, schemaOf } from '../schemas.ts'

export interface BoundSchema {
  /** Of the expression. */
  place: Span
  /** `Body`, `Param`, `Query`, `Header`, or `Query object` for that of all parameters at once. */
  injector: string
  /** What it is given to, as a message names it. */
  what: string
  /** What a violation of the whole value is said of, like `body`. */
  whole: string
}

export interface SchemaList {
  list: BoundSchema[]
  /** @returns the schema's index, or `undefined` where the parameter has none. */
  add(decorator: Decorator, controller: ClassDeclaration, member: Member): number | undefined
}

export function createSchemaList(): SchemaList {
  const list: BoundSchema[] = []
  const known = new Map<string, number>()
  return {
    list,
    add(decorator, controller, member) {
      const place = schemaOf(decorator)?.place
      if (!place) return undefined
      const key = `${place.file}:${place.start}`
      const index = known.get(key) ?? list.length
      if (index === list.length) {
        known.set(key, index)
        const what = `@${decorator.name} of ${controller.name}.${member.name}`
        const isWhole = decorator.name === 'Query' && isWholeQuery(decorator.arguments[0])
        list.push({ place, injector: isWhole ? 'Query object' : decorator.name, what, whole: wholeOf(decorator) })
      }
      return index
    },
  }
}

function wholeOf({ name, arguments: [first] }: Decorator): string {
  if (name === 'Body') return 'body'
  return name === 'Query' && isWholeQuery(first) ? 'query' : (text(first) ?? name)
}
