/** TypeScript's types as JSON Schema: what JSON.stringify makes of their values. */
import type { ts as TS } from 'ts-morph'
import { ts } from '../typescript.ts'
import type { Json } from './json-schemas.ts'

export interface JsonTypes {
  /** `schema` is absent where JSON has no text for any of the type's values. */
  of(type: TS.Type): { schema?: Json; isOptional: boolean; unsaid: string[] }
  /** Named types that the schemas refer to, by name. */
  definitions: Record<string, Json>
}

/** Depth of nested types without a name: what is nested deeper grows without end, like a generic type that contains itself. */
const deepest = 24

/** Number of named types: a handler that returns a package's objects may reach all of its declarations. */
const mostDefinitions = 2_000

/** @param taken names that definitions cannot have. */
export function createJsonTypes(program: TS.Program, checker: TS.TypeChecker, taken: readonly string[]): JsonTypes {
  const definitions: Record<string, Json> = {}
  const names = new Map<TS.Type, string>()
  const used = new Set(taken)
  const open = new Set<TS.Type>()
  let unsaid = new Set<string>()

  /** @returns `undefined` for what JSON leaves out: `undefined`, functions and symbols. */
  function jsonOf(type: TS.Type, depth: number): Json | undefined {
    const { flags } = type
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {}
    if (flags & ts.TypeFlags.Never) return { not: {} }
    if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.ESSymbolLike)) return undefined
    if (flags & ts.TypeFlags.Null) return { type: 'null' }
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value }
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === 'true' }
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
    if (type.isUnion()) return unionOf(type.types.map((one) => jsonOf(one, depth)))
    if (flags & ts.TypeFlags.StringLike) return { type: 'string' }
    if (flags & ts.TypeFlags.NumberLike) return { type: 'number' }
    if (flags & ts.TypeFlags.BigIntLike) return notSaid(type) // JSON.stringify throws
    if (flags & ts.TypeFlags.NonPrimitive) return { type: 'object' }
    if (type.isIntersection()) {
      const primitive = type.types.find((one) => !(one.flags & (ts.TypeFlags.Object | ts.TypeFlags.Instantiable)))
      return primitive ? jsonOf(primitive, depth) : objectOf(type, depth) // a brand is no member
    }
    if (flags & ts.TypeFlags.Object) return objectOf(type, depth)
    const constraint = checker.getBaseConstraintOfType(type)
    return constraint && constraint !== type && depth < deepest ? jsonOf(constraint, depth + 1) : notSaid(type)
  }

  function notSaid(type: TS.Type): Json {
    unsaid.add(checker.typeToString(type).slice(0, 60))
    return {}
  }

  function objectOf(type: TS.Type, depth: number): Json | undefined {
    const own = toJson(type)
    if (own) return type.symbol?.name === 'Date' ? { type: 'string', format: 'date-time' } : jsonOf(own, depth + 1)
    if (checker.isTupleType(type)) return tupleOf(type as TS.TupleTypeReference, depth)
    if (checker.isArrayType(type)) {
      const [item] = checker.getTypeArguments(type as TS.TypeReference)
      return { type: 'array', items: itemOf(item!, depth) }
    }
    const isFunction = type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0
    if (isFunction || (type.symbol?.name === 'Function' && isOfLibrary(type.symbol))) return undefined
    if (isOfLibrary(type.symbol)) return libraryObject(type)
    const known = names.get(type)
    if (known !== undefined) return reference(known)
    if (depth > deepest) return notSaid(type)
    const name = nameOf(type)
    if (open.has(type)) return reference(named(type, 'Result')) // it contains itself
    if (name !== undefined) {
      if (names.size >= mostDefinitions) return notSaid(type)
      const given = named(type, name)
      definitions[given] = {} // keeps the order in which they are met
      definitions[given] = membersOf(type, 0)
      return reference(given)
    }
    open.add(type)
    const made = membersOf(type, depth + 1)
    open.delete(type)
    const recursive = names.get(type)
    if (recursive === undefined) return made
    definitions[recursive] = made
    return reference(recursive)
  }

  function membersOf(type: TS.Type, depth: number): Json {
    const properties: [string, Json][] = []
    const required: string[] = []
    for (const property of checker.getPropertiesOfType(type)) {
      if (isHidden(property)) continue
      const declared = checker.getTypeOfSymbol(property)
      const made = jsonOf(declared, depth)
      if (made === undefined) continue
      properties.push([property.name, made])
      if (!(property.flags & ts.SymbolFlags.Optional) && !mayBeAbsent(declared)) required.push(property.name)
    }
    const infos = checker.getIndexInfosOfType(type)
    const rest = infos.map((one) => jsonOf(one.type, depth)).filter((one) => one !== undefined)
    if (properties.length === 0 && rest.length === 0) return { type: 'object' }
    return {
      type: 'object',
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(rest.length > 0 ? { additionalProperties: unionOf(rest) } : {}),
    }
  }

  function tupleOf(type: TS.TupleTypeReference, depth: number): Json {
    const { elementFlags } = type.target
    const items = checker.getTypeArguments(type).map((item, index) => {
      const isOptional = elementFlags[index]! & ts.ElementFlags.Optional
      return itemOf(isOptional ? checker.getNonNullableType(item) : item, depth)
    })
    const rest = items.filter((_, index) => elementFlags[index]! & ts.ElementFlags.Variable)
    const isPlain = elementFlags.every(
      (flags, index) => !(flags & ts.ElementFlags.Variable) || index === items.length - 1,
    )
    if (!isPlain) return { type: 'array', items: unionOf(items) ?? {} }
    const prefixItems = items.slice(0, items.length - rest.length)
    const minItems = elementFlags.filter((flags) => flags & ts.ElementFlags.Required).length
    return {
      type: 'array',
      ...(prefixItems.length > 0 ? { prefixItems } : {}),
      ...(rest[0] ? { items: rest[0] } : { items: false, maxItems: prefixItems.length }),
      minItems,
    }
  }

  /** JSON has `null` where a list holds what it leaves out elsewhere. */
  function itemOf(type: TS.Type, depth: number): Json {
    const made = jsonOf(type, depth)
    if (made === undefined) return { type: 'null' }
    return mayBeAbsent(type) ? unionOf([made, { type: 'null' }])! : made
  }

  function toJson(type: TS.Type): TS.Type | undefined {
    const member = checker.getPropertyOfType(type, 'toJSON')
    const [signature] = member ? checker.getTypeOfSymbol(member).getCallSignatures() : []
    return signature?.getReturnType()
  }

  /** Only what TypeScript itself declares: their members lie on prototypes, which JSON does not see. */
  function libraryObject({ symbol }: TS.Type): Json {
    if (symbol.name === 'Object') return {}
    if (symbol.name === 'String' || symbol.name === 'Number' || symbol.name === 'Boolean')
      return { type: symbol.name.toLowerCase() }
    const isBytes = /^(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array$/.test(symbol.name)
    return { type: 'object', ...(isBytes ? { additionalProperties: { type: 'number' } } : {}) }
  }

  function isOfLibrary(symbol: TS.Symbol | undefined): boolean {
    const isNominal = symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)
    const file = isNominal && symbol.declarations?.[0]?.getSourceFile()
    return file !== undefined && file !== 0 && program.isSourceFileDefaultLibrary(file)
  }

  /** Interfaces, classes and aliases have names; an alias of a package, like `Omit` or `z.infer`, names no type of the project. */
  function nameOf({ aliasSymbol, symbol }: TS.Type): string | undefined {
    const alias = aliasSymbol?.declarations?.[0]?.getSourceFile()
    if (
      aliasSymbol &&
      alias &&
      !program.isSourceFileDefaultLibrary(alias) &&
      !alias.fileName.includes('/node_modules/')
    )
      return aliasSymbol.name
    const isNominal = symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)
    return isNominal ? symbol.name : undefined
  }

  function named(type: TS.Type, wanted: string): string {
    const known = names.get(type)
    if (known !== undefined) return known
    const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(wanted) && wanted !== 'default' ? wanted : 'Result'
    let free = plain
    for (let count = 2; used.has(free); count++) free = `${plain}_${count}`
    used.add(free)
    names.set(type, free)
    return free
  }

  return {
    definitions,
    of(type) {
      unsaid = new Set()
      // a Response is sent as it is: what is in it no type says
      const parts = type.isUnion() ? type.types : [type]
      const isResponse = parts.some(({ symbol }) => symbol?.name === 'Response' && isForeign(symbol))
      const schema = isResponse ? {} : jsonOf(type, 0)
      return { ...(schema ? { schema } : {}), isOptional: mayBeAbsent(type), unsaid: [...unsaid] }
    },
  }

  function isForeign(symbol: TS.Symbol): boolean {
    const file = symbol.declarations?.[0]?.getSourceFile()
    return file !== undefined && (program.isSourceFileDefaultLibrary(file) || file.fileName.includes('/node_modules/'))
  }
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

function mayBeAbsent(type: TS.Type): boolean {
  const parts = type.isUnion() ? type.types : [type]
  return parts.some(({ flags }) => flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void))
}

/** Methods and getters of a class lie on its prototype; what is private is not for a client. */
function isHidden(property: TS.Symbol): boolean {
  if (property.name.startsWith('__@')) return true // a symbol
  const [declaration] = property.declarations ?? []
  if (!declaration) return false
  const name = ts.getNameOfDeclaration(declaration)
  if (name && ts.isPrivateIdentifier(name)) return true
  const isOfClass = ts.isClassLike(declaration.parent)
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  if (isOfClass && ts.getCombinedModifierFlags(declaration) & hidden) return true
  return isOfClass && (property.flags & (ts.SymbolFlags.Accessor | ts.SymbolFlags.Method)) !== 0
}

/** Literals of one kind become one `enum`. */
function unionOf(parts: readonly (Json | undefined)[]): Json | undefined {
  const present = parts.filter((one) => one !== undefined)
  if (present.length === 0) return undefined
  const distinct = [...new Map(present.map((one) => [JSON.stringify(one), one])).values()]
  if (distinct.some((one) => Object.keys(one).length === 0)) return {}
  const constants = distinct.flatMap((one) => ('const' in one ? [one['const']] : []))
  const others = distinct.filter((one) => !('const' in one))
  const isBoth = constants.includes(true) && constants.includes(false)
  const values = isBoth ? constants.filter((one) => typeof one !== 'boolean') : constants
  const all = [
    ...(values.length > 1 ? [{ enum: values }] : values.length === 1 ? [{ const: values[0] }] : []),
    ...(isBoth ? [{ type: 'boolean' }] : []),
    ...others.filter(({ type }) => type !== 'null'),
    ...others.filter(({ type }) => type === 'null'),
  ]
  return all.length === 1 ? all[0] : { anyOf: all }
}
