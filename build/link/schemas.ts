/** Collects the schemas of handlers' parameters in the order of the table. Pure. */
import { type ClassDeclaration, type Decorator, type Member, type Span, text } from '../declaration.ts'
import { isWholeQuery, schemaOf } from '../schemas.ts'

export interface BoundSchema {
  /** The place of the schema's expression. */
  place: Span
  /** `Body`, `Param`, `Query`, `Header`, or `Query object` where the schema takes the whole query. */
  injector: string
  /** The injector and its handler, as a message names them. */
  what: string
  /** The `path` of a violation that concerns the whole value, like `body`. */
  whole: string
}

export interface SchemaList {
  list: BoundSchema[]
  /** Adds the schema of a parameter. @returns its index, or `undefined` where the parameter has none. */
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
