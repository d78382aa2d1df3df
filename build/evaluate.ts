/** Evaluates expressions without running code: literals, constants, and what is made of them. All else is unknown. */
import path from 'node:path'
import { standardWebhooks } from '../src/wire/webhook-schemes.ts'
import type { Checker } from './checker.ts'
import { computedKey, type Entry, type Span, type StaticValue, spreadKey, unreadable } from './declaration.ts'
import type { DependencyTracker } from './dependencies.ts'
import type { Expression } from './expression.ts'
import type { Foreign, Names } from './meaning.ts'
import type { SourceFile } from './source-file.ts'
import { pathOf, relocate, spread, staticValueOf } from './values.ts'

type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>

/** An evaluation that is under way: the file, and the expressions whose values are being evaluated. */
interface Scope {
  file: SourceFile
  open: readonly Expression[]
}

export class Evaluator {
  readonly #names: Names
  readonly #tracker: DependencyTracker
  readonly #checker: () => Checker

  /** @param checker gives the type checker of the packages as they are now. */
  constructor(names: Names, tracker: DependencyTracker, checker: () => Checker) {
    this.#names = names
    this.#tracker = tracker
    this.#checker = checker
  }

  /** The value of an expression. Its place is the place of the expression, also where a constant supplies the value. */
  evaluate(file: SourceFile, expression: Expression): StaticValue {
    return this.#valueOf({ file, open: [] }, expression)
  }

  /** The value of an expression that may have a value at run time only, like a schema. No types of packages are read. */
  shapeOf(file: SourceFile, expression: Expression): StaticValue {
    const root = pathOf(expression)?.root
    const origin = root?.kind === 'name' ? file.imports.get(root.name) : undefined
    const { place } = expression
    if (origin?.isTypeOnly) return { kind: 'unknown', text: 'a type', place, isType: true }
    const meaning = root && this.#names.meaningOfExpression(file, root)
    if (meaning?.kind === 'foreign') return { kind: 'unknown', text: 'of a package', place }
    return this.evaluate(file, expression)
  }

  #valueOf(scope: Scope, expression: Expression): StaticValue {
    const value = this.#unwrappedValueOf(scope, expression)
    return expression.isWrapped ? { ...value, isElsewhere: true } : value
  }

  #unwrappedValueOf({ file, open }: Scope, expression: Expression): StaticValue {
    if (open.includes(expression)) return unknown(expression.place, 'a constant that refers to itself')
    const scope = { file, open: [...open, expression] }
    switch (expression.kind) {
      case 'literal':
        return expression
      case 'template':
        return this.#templateValue(scope, expression)
      case 'list':
        return {
          kind: 'list',
          items: expression.items.flatMap((item) =>
            item.kind === 'spread' ? spread(this.#valueOf(scope, item.of)) : [this.#valueOf(scope, item)],
          ),
          place: expression.place,
        }
      case 'record':
        return this.#recordValue(scope, expression)
      case 'sum':
        return this.#sumValue(scope, expression)
      case 'name':
        return this.#nameValue(scope, expression, expression.name) ?? unknown(expression.place, expression.name)
      case 'member':
        return this.#nameValue(scope, expression, expression.text) ?? this.#memberValue(scope, expression)
      case 'spread':
        return unknown(expression.place, '...')
      case 'other':
        return unknown(expression.place, expression.text)
    }
  }

  #templateValue(scope: Scope, { parts, text, place }: Of<'template'>): StaticValue {
    let joined = ''
    for (const part of parts) {
      const value = this.#valueOf(scope, part)
      if (value.kind !== 'literal') return unknown(place, text, value)
      joined += value.value
    }
    return { kind: 'literal', value: joined, place }
  }

  #sumValue(scope: Scope, { terms, text, place }: Of<'sum'>): StaticValue {
    let sum: string | number | undefined
    for (const term of terms) {
      const evaluated = this.#valueOf(scope, term)
      const value = evaluated.kind === 'literal' ? evaluated.value : undefined
      if (typeof value !== 'string' && typeof value !== 'number') return unknown(place, text, evaluated)
      // `+` adds two numbers, and concatenates if either side is a string.
      if (sum === undefined) sum = value
      else sum = typeof sum === 'number' && typeof value === 'number' ? sum + value : `${sum}${value}`
    }
    return { kind: 'literal', value: sum, place }
  }

  #recordValue(scope: Scope, { properties, place }: Of<'record'>): StaticValue {
    const entries: Entry[] = []
    const spreadIn = new Set<Entry>()
    const remove = (isReplaced: (earlier: Entry) => boolean) => {
      for (const earlier of entries.filter(isReplaced)) entries.splice(entries.indexOf(earlier), 1)
    }
    for (const { key, keyPlace, value } of properties) {
      if (value.kind === 'spread') {
        const of = this.#valueOf(scope, value.of)
        const added = of.kind === 'record' ? of.entries : [{ key: spreadKey, keyPlace, value: of }]
        remove((earlier) => !unreadable.has(earlier.key) && added.some((one) => one.key === earlier.key))
        for (const one of added) spreadIn.add(one)
        entries.push(...added)
      } else if (key === undefined) {
        entries.push({ key: computedKey, keyPlace, value: unknown(value.place, computedKey) })
      } else {
        // A key replaces one that was spread in, as at run time. A key that is written twice stays twice, to be refused.
        remove((earlier) => earlier.key === key && spreadIn.has(earlier))
        entries.push({ key, keyPlace, value: this.#valueOf(scope, value) })
      }
    }
    return { kind: 'record', entries, place }
  }

  /** The value of a name or of a namespace's member. `undefined` where it names neither a class nor a constant. */
  #nameValue({ file, open }: Scope, expression: Expression, text: string): StaticValue | undefined {
    const { place } = expression
    const meaning = this.#names.meaningOfExpression(file, expression)
    switch (meaning?.kind) {
      case 'class':
        return { kind: 'class', id: meaning.id, place }
      case 'constant':
        return relocate(this.#valueOf({ file: meaning.file, open }, meaning.expression), place, text)
      case 'foreign':
        return this.#packageValue(meaning, [], text, place)
      case 'sdk':
        return sdkValue(meaning.name, text, place)
      default:
        return undefined
    }
  }

  #memberValue(scope: Scope, expression: Of<'member'>): StaticValue {
    const { text, place } = expression
    const path = pathOf(expression)
    const root = path && this.#names.meaningOfExpression(scope.file, path.root)
    if (root?.kind === 'foreign') return this.#packageValue(root, path!.members, text, place)
    const record = this.#valueOf(scope, expression.of)
    if (record.kind !== 'record' || record.entries.some(({ key }) => unreadable.has(key)))
      return unknown(place, text, record)
    const found = record.entries.filter(({ key }) => key === expression.property)
    return found.length === 1 ? relocate(found[0]!.value, place, text) : unknown(place, text)
  }

  /** A package's constant has no source here: its literal type tells the value. */
  #packageValue({ file, from, name, isLost }: Foreign, members: readonly string[], text: string, place: Span) {
    if (isLost) return { kind: 'unknown', text, place, isLost } as const
    const folder = path.dirname(this.#tracker.absoluteOf(file))
    const value = this.#checker().constantOf(folder, from, [name, ...members])
    return value ? staticValueOf(value.value, place) : unknown(place, text)
  }
}

/** The only value of the SDK that an option takes is `standardWebhooks`. */
function sdkValue(name: string, text: string, place: Span): StaticValue {
  if (name !== 'standardWebhooks') return unknown(place, text)
  return relocate(staticValueOf(standardWebhooks, place), place, text)
}

/** @param part the value that makes the whole unknown. */
function unknown(place: Span, text: string, part?: StaticValue): StaticValue {
  return { kind: 'unknown', text, place, ...(part?.kind === 'unknown' && part.isLost ? { isLost: true } : {}) }
}
