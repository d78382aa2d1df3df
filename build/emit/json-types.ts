/** Turns TypeScript types into JSON Schema: the schema of what `JSON.stringify` makes of a type's values. */
import type { ts as TS } from 'ts-morph'
import { ts } from '../typescript.ts'
import { componentPrefix, type Json } from './json.ts'

export interface JsonType {
  /** Absent where `JSON.stringify` has no text for any value of the type. */
  schema?: Json
  /** The type admits `undefined`. */
  isOptional: boolean
  /** The type admits a `Response` that does not tell the type of its body, nor its media type. */
  isOpaque?: boolean
  /** Parts of the type that JSON Schema cannot describe. */
  unrepresentable: string[]
}

/** Largest depth of nested types without a name. A deeper type grows without end, like a generic type that contains itself. */
const deepest = 24

/** Largest number of named types. A handler that returns a package's objects may reach all types of that package. */
const mostDefinitions = 2_000

/** Largest number of characters of a type's text that a warning quotes. */
const longestText = 60

export class JsonTypes {
  /** Schemas of the named types that other schemas refer to, by name. */
  readonly definitions: Record<string, Json> = {}
  readonly #program: TS.Program
  readonly #checker: TS.TypeChecker
  readonly #names = new Map<TS.Type, string>()
  readonly #used: Set<string>
  /** Types without a name whose members are being converted. One that occurs inside itself gets a name. */
  readonly #open = new Set<TS.Type>()
  #unrepresentable = new Set<string>()

  /** @param reserved names that no definition may have. */
  constructor(program: TS.Program, checker: TS.TypeChecker, reserved: readonly string[]) {
    this.#program = program
    this.#checker = checker
    this.#used = new Set(reserved)
  }

  of(type: TS.Type): JsonType {
    this.#unrepresentable = new Set()
    const parts = type.isUnion() ? type.types : [type]
    const results = parts.filter((one) => !isHttpError(one)).map((one) => this.#sentOf(one))
    const isOpaque = results.includes(undefined)
    const isChanged = results.length < parts.length || results.some((one, index) => one !== parts[index])
    const schema = isOpaque ? {} : this.#resultOf(type, results as TS.Type[], isChanged)
    return {
      ...(schema ? { schema } : {}),
      isOptional: mayBeAbsent(type),
      ...(isOpaque ? { isOpaque } : {}),
      unrepresentable: [...this.#unrepresentable],
    }
  }

  /**
   * The type of what is sent. A `Response` is sent as it is, and its body has the type that its `json()` promises, as in
   * `Response & { json(): Promise<Order> }`. @returns `undefined` for a `Response` that promises nothing.
   */
  #sentOf(type: TS.Type): TS.Type | undefined {
    const own = type.isIntersection() ? type.types : [type]
    const isResponse = own.some(({ symbol }) => symbol?.name === 'Response' && this.#isForeign(symbol))
    if (!isResponse) return type
    const promised = type.isIntersection() ? this.#checker.getPropertyOfType(type, 'json') : undefined
    const signature = promised && this.#checker.getTypeOfSymbol(promised).getCallSignatures().at(-1)
    return signature && this.#checker.getAwaitedType(signature.getReturnType())
  }

  /** A returned HttpError is answered as the error envelope, which every operation describes (contract 2.3). */
  #resultOf(type: TS.Type, results: readonly TS.Type[], isChanged: boolean): Json | undefined {
    return isChanged ? unionOf(results.map((one) => this.#schemaOf(one, 0))) : this.#schemaOf(type, 0)
  }

  /** @returns `undefined` for what JSON leaves out: `undefined`, functions and symbols. */
  #schemaOf(type: TS.Type, depth: number): Json | undefined {
    const { flags } = type
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {}
    if (flags & ts.TypeFlags.Never) return { not: {} }
    if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.ESSymbolLike)) return undefined
    if (flags & ts.TypeFlags.Null) return { type: 'null' }
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value }
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: this.#checker.typeToString(type) === 'true' }
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' }
    if (type.isUnion()) return unionOf(type.types.map((one) => this.#schemaOf(one, depth)))
    if (flags & ts.TypeFlags.StringLike) return { type: 'string' }
    if (flags & ts.TypeFlags.NumberLike) return { type: 'number' }
    if (flags & ts.TypeFlags.BigIntLike) return this.#anything(type) // JSON.stringify throws.
    if (flags & ts.TypeFlags.NonPrimitive) return { type: 'object' }
    if (type.isIntersection()) {
      // A primitive with a brand is the primitive: the brand does not exist at run time.
      const primitive = type.types.find((one) => !(one.flags & (ts.TypeFlags.Object | ts.TypeFlags.Instantiable)))
      return primitive ? this.#schemaOf(primitive, depth) : this.#objectOf(type, depth)
    }
    if (flags & ts.TypeFlags.Object) return this.#objectOf(type, depth)
    const constraint = this.#checker.getBaseConstraintOfType(type)
    const isBound = constraint && constraint !== type && depth < deepest
    return isBound ? this.#schemaOf(constraint, depth + 1) : this.#anything(type)
  }

  /** The schema that admits everything, for a type that JSON Schema cannot describe. */
  #anything(type: TS.Type): Json {
    this.#unrepresentable.add(this.#checker.typeToString(type).slice(0, longestText))
    return {}
  }

  #objectOf(type: TS.Type, depth: number): Json | undefined {
    const json = this.#resultOfToJson(type)
    if (json)
      return type.symbol?.name === 'Date' ? { type: 'string', format: 'date-time' } : this.#schemaOf(json, depth + 1)
    if (this.#checker.isTupleType(type)) return this.#tupleOf(type as TS.TupleTypeReference, depth)
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as TS.TypeReference)
      return { type: 'array', items: this.#itemOf(item!, depth) }
    }
    const isFunction = type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0
    if (isFunction || (type.symbol?.name === 'Function' && this.#isOfLibrary(type.symbol))) return undefined
    if (this.#isOfLibrary(type.symbol)) return libraryObject(type)
    return this.#referenceOrMembers(type, depth)
  }

  /** A type with a name, and one that contains itself, becomes a definition and a reference to it. */
  #referenceOrMembers(type: TS.Type, depth: number): Json {
    const known = this.#names.get(type)
    if (known !== undefined) return reference(known)
    if (depth > deepest) return this.#anything(type)
    const name = this.#nameOf(type)
    if (this.#open.has(type)) return reference(this.#define(type, 'Result'))
    if (name !== undefined) {
      if (this.#names.size >= mostDefinitions) return this.#anything(type)
      const given = this.#define(type, name)
      this.definitions[given] = {} // Keeps the definitions in the order in which the types occur.
      this.definitions[given] = this.#membersOf(type, 0)
      return reference(given)
    }
    this.#open.add(type)
    const schema = this.#membersOf(type, depth + 1)
    this.#open.delete(type)
    const recursive = this.#names.get(type)
    if (recursive === undefined) return schema
    this.definitions[recursive] = schema
    return reference(recursive)
  }

  #membersOf(type: TS.Type, depth: number): Json {
    const properties: [string, Json][] = []
    const required: string[] = []
    for (const property of this.#checker.getPropertiesOfType(type)) {
      if (isHidden(property)) continue
      const declared = this.#checker.getTypeOfSymbol(property)
      const schema = this.#schemaOf(declared, depth)
      if (schema === undefined) continue
      properties.push([property.name, schema])
      if (!(property.flags & ts.SymbolFlags.Optional) && !mayBeAbsent(declared)) required.push(property.name)
    }
    const infos = this.#checker.getIndexInfosOfType(type)
    const rest = infos.map((one) => this.#schemaOf(one.type, depth)).filter((one) => one !== undefined)
    if (properties.length === 0 && rest.length === 0) return { type: 'object' }
    return {
      type: 'object',
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(rest.length > 0 ? { additionalProperties: unionOf(rest) } : {}),
    }
  }

  #tupleOf(type: TS.TupleTypeReference, depth: number): Json {
    const { elementFlags } = type.target
    const items = this.#checker.getTypeArguments(type).map((item, index) => {
      const isOptional = elementFlags[index]! & ts.ElementFlags.Optional
      return this.#itemOf(isOptional ? this.#checker.getNonNullableType(item) : item, depth)
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

  /** JSON.stringify writes `null` for an array item that it would leave out of an object. */
  #itemOf(type: TS.Type, depth: number): Json {
    const schema = this.#schemaOf(type, depth)
    if (schema === undefined) return { type: 'null' }
    return mayBeAbsent(type) ? unionOf([schema, { type: 'null' }])! : schema
  }

  #resultOfToJson(type: TS.Type): TS.Type | undefined {
    const member = this.#checker.getPropertyOfType(type, 'toJSON')
    const [signature] = member ? this.#checker.getTypeOfSymbol(member).getCallSignatures() : []
    return signature?.getReturnType()
  }

  #isOfLibrary(symbol: TS.Symbol | undefined): boolean {
    const isNominal = symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)
    const file = isNominal && symbol.declarations?.[0]?.getSourceFile()
    return file !== undefined && file !== 0 && this.#program.isSourceFileDefaultLibrary(file)
  }

  #isForeign(symbol: TS.Symbol): boolean {
    const file = symbol.declarations?.[0]?.getSourceFile()
    return file !== undefined && this.#isOutsideProject(file)
  }

  #isOutsideProject(file: TS.SourceFile): boolean {
    return this.#program.isSourceFileDefaultLibrary(file) || file.fileName.includes('/node_modules/')
  }

  /** The name of an interface, class or alias. A package's alias, like `Omit` or `z.infer`, is no name of the project's type. */
  #nameOf({ aliasSymbol, symbol }: TS.Type): string | undefined {
    const alias = aliasSymbol?.declarations?.[0]?.getSourceFile()
    if (aliasSymbol && alias && !this.#isOutsideProject(alias)) return aliasSymbol.name
    const isNominal = symbol && symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)
    return isNominal ? symbol.name : undefined
  }

  /** Gives the type a free name. */
  #define(type: TS.Type, wanted: string): string {
    const known = this.#names.get(type)
    if (known !== undefined) return known
    const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(wanted) && wanted !== 'default' ? wanted : 'Result'
    let free = plain
    for (let count = 2; this.#used.has(free); count++) free = `${plain}_${count}`
    this.#used.add(free)
    this.#names.set(type, free)
    return free
  }
}

/** A type that TypeScript's library declares. Its members lie on prototypes, which JSON.stringify does not see. */
function libraryObject({ symbol }: TS.Type): Json {
  if (symbol.name === 'Object') return {}
  if (symbol.name === 'String' || symbol.name === 'Number' || symbol.name === 'Boolean')
    return { type: symbol.name.toLowerCase() }
  const isBytes = /^(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array$/.test(symbol.name)
  return { type: 'object', ...(isBytes ? { additionalProperties: { type: 'number' } } : {}) }
}

function reference(name: string): Json {
  return { $ref: `${componentPrefix}${name}` }
}

/** The SDK's own class, in this repository or as an installed package has it. */
function isHttpError({ symbol }: TS.Type): boolean {
  const file = symbol?.declarations?.[0]?.getSourceFile().fileName
  return symbol?.name === 'HttpError' && /\/src\/sdk\/errors(?:\.d)?\.ts$/.test(file ?? '')
}

function mayBeAbsent(type: TS.Type): boolean {
  const parts = type.isUnion() ? type.types : [type]
  return parts.some(({ flags }) => flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void))
}

/** Methods and accessors of a class lie on its prototype. Private members are not meant for clients. */
function isHidden(property: TS.Symbol): boolean {
  if (property.name.startsWith('__@')) return true // TypeScript's name of a member whose key is a symbol.
  const [declaration] = property.declarations ?? []
  if (!declaration) return false
  const name = ts.getNameOfDeclaration(declaration)
  if (name && ts.isPrivateIdentifier(name)) return true
  const isOfClass = ts.isClassLike(declaration.parent)
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  if (isOfClass && ts.getCombinedModifierFlags(declaration) & hidden) return true
  return isOfClass && (property.flags & (ts.SymbolFlags.Accessor | ts.SymbolFlags.Method)) !== 0
}

/** A union as one schema. Several constants become one `enum`. */
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
