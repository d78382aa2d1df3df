/** Checks the arguments of decorators: they are known at build, have the right form, and have no unknown key. */
import { nearest } from '../../src/wire/nearest.ts'
import { type Decorator, isReadable, option, type Span, type StaticValue, unreadable } from '../declaration.ts'
import { consequence, type Refusal, refusal } from '../refusals/index.ts'
import { isGiven } from '../schemas.ts'
import { describe } from '../values.ts'
import { checkRecipe } from './recipes.ts'

/** The form that a value must have. */
export type Form =
  | { is: 'string' | 'boolean' | 'header' | 'url' }
  /** `providers` also takes recipes. */
  | { is: 'classes' | 'providers' }
  | { is: 'number'; from: number; to: number; not?: readonly number[] }
  | { is: 'one of'; values: readonly (string | number | boolean)[] }
  /** `required` names keys that must be there, each with an example for the fix. `isStrict` refuses the value `undefined`. */
  | { is: 'record'; keys: Record<string, Form>; required?: Record<string, string>; isStrict?: true }
  | { is: 'origin' }
  | { is: 'list'; of: Form }
  /** `true`, `false`, or an object with options. */
  | { is: 'boolean or'; record: Form & { is: 'record' } }
  /** Another check is in charge of the value. */
  | { is: 'anything' }

/** @param what the name of the value in a message, like `"status" of @Get`. */
export function checkForm(given: StaticValue, form: Form, what: string): Refusal<Span>[] {
  if (form.is === 'anything') return []
  if (given.kind === 'unknown') {
    return [consequence(refusal('option-not-constant', given.place, { what, text: given.text }), given.isLost)]
  }
  switch (form.is) {
    case 'header':
      return given.kind === 'literal' &&
        typeof given.value === 'string' &&
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(given.value)
        ? []
        : [malformedRefusal(given, what, 'the name of a header')]
    case 'origin':
      return given.kind === 'literal' && isOrigin(given.value)
        ? []
        : [malformedRefusal(given, what, 'an origin like "https://app.example", or "*"')]
    case 'list':
      if (given.kind !== 'list') return [malformedRefusal(given, what, 'a list')]
      return given.items.flatMap((item) => checkForm(item, form.of, `an item of ${what}`))
    case 'url':
      return given.kind === 'literal' && typeof given.value === 'string' && /^https?:\/\/[^\s?#]+$/.test(given.value)
        ? []
        : [malformedRefusal(given, what, 'an http or https URL without a query')]
    case 'boolean or':
      return given.kind === 'record'
        ? checkRecord(given, form.record, what)
        : given.kind === 'literal' && typeof given.value === 'boolean'
          ? []
          : [malformedRefusal(given, what, 'true, false or an object')]
    case 'record':
      return given.kind === 'record' ? checkRecord(given, form, what) : [malformedRefusal(given, what, 'an object')]
    case 'classes':
    case 'providers':
      if (given.kind !== 'list') return [malformedRefusal(given, what, 'a list of classes')]
      return given.items.flatMap((item) => {
        if (item.kind === 'unknown') {
          const about = { what: `an item of ${what}`, text: item.text, isClass: true }
          return [consequence(refusal('option-not-constant', item.place, about), item.isLost)]
        }
        if (form.is === 'providers' && item.kind === 'record') return checkRecipe(item)
        return item.kind === 'class' ? [] : [malformedRefusal(item, `an item of ${what}`, 'a class')]
      })
    case 'one of':
      return given.kind === 'literal' && (form.values as readonly unknown[]).includes(given.value)
        ? []
        : [malformedRefusal(given, what, form.values.map((value) => JSON.stringify(value)).join(' or '))]
    case 'number': {
      const isFitting =
        given.kind === 'literal' &&
        typeof given.value === 'number' &&
        Number.isInteger(given.value) &&
        given.value >= form.from &&
        given.value <= form.to &&
        !form.not?.includes(given.value)
      return isFitting
        ? []
        : [
            malformedRefusal(
              given,
              what,
              `a whole number from ${form.from} to ${form.to}${form.not ? ` except ${form.not.join(' and ')} (for 204 return nothing)` : ''}`,
            ),
          ]
    }
    default:
      return given.kind === 'literal' && typeof given.value === form.is
        ? []
        : [malformedRefusal(given, what, `a ${form.is}`)]
  }
}

function checkRecord(
  given: StaticValue & { kind: 'record' },
  { keys, required = {}, isStrict }: Form & { is: 'record' },
  where: string,
): Refusal<Span>[] {
  const known = Object.keys(keys)
  const found = given.entries.flatMap(({ key, keyPlace, value }, index) => {
    if (unreadable.has(key)) {
      const text = value.kind === 'unknown' ? value.text : key
      const isLost = value.kind === 'unknown' && value.isLost
      return [consequence(refusal('option-not-constant', keyPlace, { what: `an option of ${where}`, text }), isLost)]
    }
    const form = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (!form) return [refusal('option-unknown', keyPlace, { key, where, known, near: nearest(key, known) })]
    const first = given.entries.findIndex((entry) => entry.key === key)
    if (first !== index) {
      const related = [{ message: 'the first is here', place: given.entries[first]!.keyPlace }]
      return [refusal('option-twice', keyPlace, { key, where }, related)]
    }
    if (!isStrict && value.kind === 'literal' && value.value === undefined) return []
    return checkForm(value, form, `"${key}" of ${where}`)
  })
  // a spread that cannot be read may hold the key
  const missing = Object.entries(required).filter(([key]) => isReadable(given) && option(given, key) === undefined)
  return [...found, ...missing.map(([key, form]) => refusal('option-missing', given.place, { key, where, form }))]
}

function malformedRefusal(given: StaticValue, what: string, expected: string): Refusal<Span> {
  return refusal('option-malformed', given.place, { what, expected, found: describe(given) })
}

/** Whether a value is an origin as browsers write it: without a path, a capital letter or the scheme's own port. */
function isOrigin(value: unknown): boolean {
  if (value === '*') return true
  return (
    typeof value === 'string' &&
    /^https?:\/\/[a-z0-9.:[\]-]+$/.test(value) &&
    URL.canParse(value) &&
    new URL(value).origin === value
  )
}

/** @param forms one for each argument. An argument without `required`, the example of a call, is optional. */
export function checkArguments(
  decorator: Decorator,
  forms: readonly { form: Form; what: string; required?: string }[],
): Refusal<Span>[] {
  const { name, place } = decorator
  if (!decorator.isCalled) return [] // `declarations.ts` refuses it
  const refused: Refusal<Span>[] = []
  for (const extra of decorator.arguments.slice(forms.length)) {
    refused.push(refusal('argument-superfluous', extra.place, { name, takes: countOf(forms.length) }))
  }
  for (const [index, { form, what, required }] of forms.entries()) {
    const given = decorator.arguments[index]
    if (isGiven(given)) {
      if (!isPlainly(given, form))
        refused.push(...checkForm(given, form, what === '' ? `@${name}` : `${what} of @${name}`))
    } else if (required !== undefined) {
      refused.push(refusal('argument-missing', place, { name, what, form: required }))
    }
  }
  return refused
}

/** Whether a value obviously has its form: this saves the names in messages for most values. */
function isPlainly(given: StaticValue, form: Form): boolean {
  return form.is === 'anything' || (form.is === 'string' && given.kind === 'literal' && typeof given.value === 'string')
}

function countOf(count: number): string {
  return count === 0 ? 'no arguments' : count === 1 ? 'one argument' : `${count} arguments`
}
