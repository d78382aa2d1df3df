/**
 * The schedules of `@Cron`: five fields in UTC, as Cloudflare's cron triggers read them (contract 2.12). The platform's parser
 * is the crate saffron. A form that other parsers read otherwise is a fault, so that the local stack and the platform agree.
 */

export interface ScheduleFault {
  /** States what is wrong, without a full stop. */
  reason: string
  /** States what to write instead. */
  fix: string
}

interface Field {
  name: string
  from: number
  to: number
  /** Names of the values, the first one for `from`. */
  names?: readonly string[]
}

const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

const minute: Field = { name: 'minute', from: 0, to: 59 }
const hour: Field = { name: 'hour', from: 0, to: 23 }
const dayOfMonth: Field = { name: 'day of the month', from: 1, to: 31 }
const month: Field = { name: 'month', from: 1, to: 12, names: months }
const dayOfWeek: Field = { name: 'day of the week', from: 1, to: 7, names: weekdays }
const fields = [minute, hour, dayOfMonth, month, dayOfWeek]

/** Largest number of days that each month can have, January first. */
const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The last day on which saffron and other parsers take `W` for the same date in every month. */
const lastNearWeekday = 28

class Malformed extends Error {
  readonly fault: ScheduleFault

  constructor(reason: string, fix: string) {
    super(reason)
    this.fault = { reason, fix }
  }
}

/** The form in which a schedule is compared and deployed: capital letters, and one space between two fields. */
export function canonicalSchedule(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toUpperCase()
}

/** @returns what is wrong with a schedule, or `undefined` where nothing is. */
export function scheduleFault(text: string): ScheduleFault | undefined {
  try {
    expandSchedule(text)
    return undefined
  } catch (error) {
    if (error instanceof Malformed) return error.fault
    throw error
  }
}

/**
 * The five fields, with each range, step and name as a list of numbers. `*` and the forms with `L`, `W` and `#` stay. Every
 * parser reads this form alike if it counts the days of the week from 1 for Sunday.
 *
 * @throws Error for a schedule that is malformed.
 */
export function expandSchedule(text: string): string[] {
  const parts = canonicalSchedule(text).split(' ')
  requireFive(parts)
  const expanded = fields.map((field, index) => expandField(field, parts[index]!))
  requireDate(expanded)
  return expanded
}

/** The names of the days that numbers in the last field stand for, like `SUN-THU` for `1-5`. `undefined` without numbers. */
export function namedWeekdays(text: string): string | undefined {
  const last = canonicalSchedule(text).split(' ')[4] ?? ''
  const named = last
    .split(',')
    .map((item) => item.replace(/^[1-7](?:-[1-7])?(?=$|[/L#])/, (days) => days.replace(/\d/g, nameOf)))
    .join(',')
  return named === last ? undefined : named
}

function nameOf(digit: string): string {
  return weekdays[Number(digit) - 1]!
}

/** Schedules of other tools, by the name that stands for them. */
const nicknames: Record<string, string> = {
  '@YEARLY': '0 0 1 1 *',
  '@ANNUALLY': '0 0 1 1 *',
  '@MONTHLY': '0 0 1 * *',
  '@WEEKLY': '0 0 * * SUN',
  '@DAILY': '0 0 * * *',
  '@MIDNIGHT': '0 0 * * *',
  '@HOURLY': '0 * * * *',
}

function requireFive(parts: readonly string[]): void {
  const [first = ''] = parts
  if (Object.hasOwn(nicknames, first)) {
    throw new Malformed('the platform knows no nicknames', `write \`${nicknames[first]}\``)
  }
  if (parts.length === 5) return
  const count = first === '' ? 'no field' : `${parts.length} field${parts.length === 1 ? '' : 's'}`
  throw new Malformed(
    `it has ${count} instead of five`,
    parts.length === 6
      ? 'remove the field of the seconds or the year: the platform has minutes as its shortest unit, and no years'
      : 'write minute, hour, day of the month, month and day of the week, for example `0 3 * * *` for 03:00 UTC',
  )
}

function expandField(field: Field, text: string): string {
  if (text === '*') return text
  if (text.includes('?')) throw new Malformed(`the platform has no "?" in the field ${field.name}`, 'write `*`')
  const marks = (field.names ?? []).reduce((rest, name) => rest.replaceAll(name, ''), text)
  if (/[LW#]/.test(marks)) return specialDay(field, text)
  const values = new Set(text.split(',').flatMap((item) => valuesOf(field, item, text)))
  return [...values].sort((a, b) => a - b).join(',')
}

/** The forms that choose one day of a month. Each of them stands alone in its field. */
function specialDay(field: Field, text: string): string {
  if (field === dayOfMonth) {
    if (text === 'L' || text === 'LW') return text
    const near = Number(/^(\d{1,2})W$/.exec(text)?.[1])
    if (near >= 1 && near <= lastNearWeekday) return `${near}W`
    throw new Malformed(
      `"${text}" in the field ${field.name} is none of \`L\`, \`LW\` and \`1W\` to \`${lastNearWeekday}W\`, which parsers agree about and which stand alone`,
      'write one of these, or a second @Cron for a further day',
    )
  }
  if (field === dayOfWeek) {
    const [, day, rest] = /^([A-Z]{3}|\d)(L|#[1-5])$/.exec(text) ?? []
    if (day !== undefined) return `${numberOf(field, day)}${rest}`
    throw new Malformed(
      `"${text}" in the field ${field.name} is neither the last one of a month, like \`FRIL\`, nor the first to fifth, like \`MON#2\``,
      'write one of these alone in the field, or a second @Cron for a further day',
    )
  }
  throw new Malformed(`"${text}" has no meaning in the field ${field.name}`, `write ${rangeOf(field)} there`)
}

function valuesOf(field: Field, item: string, text: string): number[] {
  const [range = '', step, ...more] = item.split('/')
  const [first = '', last, ...others] = range.split('-')
  if (item === '*') throw new Malformed(`"*" stands in the list "${text}"`, 'write `*` alone, or remove it')
  if (more.length > 0 || others.length > 0 || (range.includes('*') && range !== '*')) {
    throw new Malformed(`"${item}" in the field ${field.name} is no value, range or step`, example(field))
  }
  const isStar = range === '*'
  const from = isStar ? field.from : numberOf(field, first)
  const to = last === undefined ? (isStar || step !== undefined ? field.to : from) : numberOf(field, last)
  if (from > to) {
    throw new Malformed(
      `the range "${range}" in the field ${field.name} runs backwards, which the platform reads wrongly`,
      `write it as two: \`${joined(first, String(field.names?.at(-1) ?? field.to))},${joined(String(field.names?.[0] ?? field.from), last!)}\``,
    )
  }
  const by = step === undefined ? 1 : stepOf(field, item, step)
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by)
}

function joined(from: string, to: string): string {
  return from === to ? from : `${from}-${to}`
}

function stepOf(field: Field, item: string, step: string): number {
  const largest = field.to - field.from
  const number = /^\d{1,3}$/.test(step) ? Number(step) : 0
  if (number >= 1 && number <= largest) return number
  throw new Malformed(
    `the step of "${item}" in the field ${field.name} is not a whole number from 1 to ${largest}`,
    example(field),
  )
}

function numberOf(field: Field, text: string): number {
  const named = field.names?.indexOf(text) ?? -1
  if (named !== -1) return field.from + named
  const number = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (number >= field.from && number <= field.to) return number
  const near = field.names?.find((name) => text.length > name.length && text.startsWith(name))
  const isSunday = field === dayOfWeek && number === 0
  throw new Malformed(
    isSunday
      ? '0 is no day of the week: the platform counts from 1 for Sunday to 7 for Saturday'
      : `"${text}" is no ${field.name}: it takes ${rangeOf(field)}`,
    isSunday ? 'write `SUN`' : near ? `write \`${near}\`` : example(field),
  )
}

function rangeOf({ from, to, names }: Field): string {
  return `${from} to ${to}${names ? `, or ${names[0]} to ${names.at(-1)}` : ''}`
}

function example({ names, from, to }: Field): string {
  const last = names ? names[names.length - 2] : to - 1
  return `write a value, a range like \`${names?.[1] ?? from + 1}-${last}\`, or a step like \`*/2\``
}

/** Refuses a day that none of the months has, like 30 February: the platform refuses such a trigger. */
function requireDate([, , day = '*', among = '*', week = '*']: readonly string[]): void {
  if (!/^\d/.test(day) || day.endsWith('W') || week !== '*') return
  const first = Math.min(...day.split(',').map(Number))
  const chosen = among === '*' ? months.map((_, index) => index + 1) : among.split(',').map(Number)
  if (chosen.some((number) => first <= longest[number - 1]!)) return
  const names = chosen.map((number) => months[number - 1]).join(' and ')
  throw new Malformed(
    `there is no day ${first} in ${names}`,
    'choose a day that the month has, or `L` for its last one',
  )
}
