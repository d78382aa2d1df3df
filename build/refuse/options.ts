/** What a decorator is given: known at build, of the right form, and no key that nobody reads. */
import { nearest } from '../../src/wire/nearest.ts'
import { type Decorator, isReadable, option, type Span, type StaticValue, unreadable } from '../declaration.ts'
import { consequence, type Refusal, refusal } from '../refusals/index.ts'
import { isGiven } from '../schemas.ts'
import { describe } from '../values.ts'
import { checkRecipe } from './recipes.ts'

/** A form that a value must have. */
export type Form =
  | { is: 'string' | 'boolean' | 'header' | 'url' }
  /** `providers` also takes recipes. */
  | { is: 'classes' | 'providers' }
  | { is: 'number'; from: number; to: number; not?: readonly number[] }
  | { is: 'one of'; values: readonly (string | number | boolean)[] }
  /** `required` names keys that must be there, each with the form that a fix shows; `isStrict` takes no `undefined`. */
  | { is: 'record'; keys: Record<string, Form>; required?: Record<string, string>; isStrict?: true }
  | { is: 'origin' }
  | { is: 'list'; of: Form }
  /** `true`, `false`, or more to say than that. */
  | { is: 'boolean or'; record: Form & { is: 'record' } }
  /** Judged elsewhere. */
  | { is: 'anything' }

/** @param what how a message names the value, like `"status" of @Get`. */
export function checkForm(fact: StaticValue, form: Form, what: string): Refusal<Span>[] {
  if (form.is === 'anything') return []
  if (fact.kind === 'unknown') {
    return [consequence(refusal('option-not-constant', fact.place, { what, text: fact.text }), fact.isLost)]
  }
  switch (form.is) {
    case 'header':
      return fact.kind === 'literal' &&
        typeof fact.value === 'string' &&
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(fact.value)
        ? []
        : [malformed(fact, what, 'the name of a header')]
    case 'origin':
      return fact.kind === 'literal' && isOrigin(fact.value)
        ? []
        : [malformed(fact, what, 'an origin like "https://app.example", or "*"')]
    case 'list':
      if (fact.kind !== 'list') return [malformed(fact, what, 'a list')]
      return fact.items.flatMap((item) => checkForm(item, form.of, `an item of ${what}`))
    case 'url':
      return fact.kind === 'literal' && typeof fact.value === 'string' && /^https?:\/\/[^\s?#]+$/.test(fact.value)
        ? []
        : [malformed(fact, what, 'an http or https URL without a query')]
    case 'boolean or':
      return fact.kind === 'record'
        ? checkRecord(fact, form.record, what)
        : fact.kind === 'literal' && typeof fact.value === 'boolean'
          ? []
          : [malformed(fact, what, 'true, false or an object')]
    case 'record':
      return fact.kind === 'record' ? checkRecord(fact, form, what) : [malformed(fact, what, 'an object')]
    case 'classes':
    case 'providers':
      if (fact.kind !== 'list') return [malformed(fact, what, 'a list of classes')]
      return fact.items.flatMap((item) => {
        if (item.kind === 'unknown') {
          const about = { what: `an item of ${what}`, text: item.text, isClass: true }
          return [consequence(refusal('option-not-constant', item.place, about), item.isLost)]
        }
        if (form.is === 'providers' && item.kind === 'record') return checkRecipe(item)
        return item.kind === 'class' ? [] : [malformed(item, `an item of ${what}`, 'a class')]
      })
    case 'one of':
      return fact.kind === 'literal' && (form.values as readonly unknown[]).includes(fact.value)
        ? []
        : [malformed(fact, what, form.values.map((value) => JSON.stringify(value)).join(' or '))]
    case 'number': {
      const isFitting =
        fact.kind === 'literal' &&
        typeof fact.value === 'number' &&
        Number.isInteger(fact.value) &&
        fact.value >= form.from &&
        fact.value <= form.to &&
        !form.not?.includes(fact.value)
      return isFitting
        ? []
        : [
            malformed(
              fact,
              what,
              `a whole number from ${form.from} to ${form.to}${form.not ? ` except ${form.not.join(' and ')} (for 204 return nothing)` : ''}`,
            ),
          ]
    }
    default:
      return fact.kind === 'literal' && typeof fact.value === form.is ? [] : [malformed(fact, what, `a ${form.is}`)]
  }
}

function checkRecord(
  fact: StaticValue & { kind: 'record' },
  { keys, required = {}, isStrict }: Form & { is: 'record' },
  where: string,
): Refusal<Span>[] {
  const known = Object.keys(keys)
  const found = fact.entries.flatMap(({ key, keyPlace, value }, index) => {
    if (unreadable.has(key)) {
      const text = value.kind === 'unknown' ? value.text : key
      const isLost = value.kind === 'unknown' && value.isLost
      return [consequence(refusal('option-not-constant', keyPlace, { what: `an option of ${where}`, text }), isLost)]
    }
    const form = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (!form) return [refusal('option-unknown', keyPlace, { key, where, known, near: nearest(key, known) })]
    const first = fact.entries.findIndex((entry) => entry.key === key)
    if (first !== index) {
      const related = [{ message: 'the first is here', place: fact.entries[first]!.keyPlace }]
      return [refusal('option-twice', keyPlace, { key, where }, related)]
    }
    if (!isStrict && value.kind === 'literal' && value.value === undefined) return []
    return checkForm(value, form, `"${key}" of ${where}`)
  })
  // what a spread that cannot be read may bring is not missed
  const missing = Object.entries(required).filter(([key]) => isReadable(fact) && option(fact, key) === undefined)
  return [...found, ...missing.map(([key, form]) => refusal('option-missing', fact.place, { key, where, form }))]
}

function malformed(fact: StaticValue, what: string, expected: string): Refusal<Span> {
  return refusal('option-malformed', fact.place, { what, expected, found: describe(fact) })
}

/** As browsers write it: no path, no capital letter, no port that goes without saying. */
function isOrigin(value: unknown): boolean {
  if (value === '*') return true
  return (
    typeof value === 'string' &&
    /^https?:\/\/[a-z0-9.:[\]-]+$/.test(value) &&
    URL.canParse(value) &&
    new URL(value).origin === value
  )
}

/** The arguments of a decorator, one form for each; all may be left out unless `required` shows the form of a call. */
export function checkArguments(
  decorator: Decorator,
  forms: readonly { form: Form; what: string; required?: string }[],
): Refusal<Span>[] {
  const { name, place } = decorator
  if (!decorator.isCalled) return [] // said elsewhere
  const refused: Refusal<Span>[] = []
  for (const extra of decorator.arguments.slice(forms.length)) {
    refused.push(refusal('argument-superfluous', extra.place, { name, takes: countOf(forms.length) }))
  }
  for (const [index, { form, what, required }] of forms.entries()) {
    const fact = decorator.arguments[index]
    if (isGiven(fact)) {
      if (!isPlainly(fact, form))
        refused.push(...checkForm(fact, form, what === '' ? `@${name}` : `${what} of @${name}`))
    } else if (required !== undefined) {
      refused.push(refusal('argument-missing', place, { name, what, form: required }))
    }
  }
  return refused
}

/** Most values are what they must be, and need no words. */
function isPlainly(fact: StaticValue, form: Form): boolean {
  return form.is === 'anything' || (form.is === 'string' && fact.kind === 'literal' && typeof fact.value === 'string')
}

function countOf(count: number): string {
  return count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`
}
