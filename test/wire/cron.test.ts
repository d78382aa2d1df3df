/** Schedules are what the platform and the local stack read alike (contract 2.12). */
import { describe, expect, it } from 'vitest'
import { isDue, nextRun } from '../../local/schedule.ts'
import { canonicalSchedule, expandSchedule, namedWeekdays, scheduleFault } from '../../src/wire/cron.ts'

describe('a schedule', () => {
  it.each([
    ['* * * * *', '* * * * *'],
    ['*/30 * * * *', '0,30 * * * *'],
    ['5/20 0-6/3 * * *', '5,25,45 0,3,6 * * *'],
    ['0 8,12-14 * jan-Mar,DEC *', '0 8,12,13,14 * 1,2,3,12 *'],
    ['05 7 * * mon-fri', '5 7 * * 2,3,4,5,6'],
    ['0 17 * * 1', '0 17 * * 1'],
    ['0 18 * * friL', '0 18 * * 6L'],
    ['0 18 * * 6L', '0 18 * * 6L'],
    ['0 9 * * MON#2', '0 9 * * 2#2'],
    ['59 23 LW * *', '59 23 LW * *'],
    ['0 0 l * *', '0 0 L * *'],
    ['0 0 15W * *', '0 0 15W * *'],
    ['0 0 29 2 *', '0 0 29 2 *'],
    ['0 0 31 2 MON', '0 0 31 2 2'],
    [' 0\t 6  * * * ', '0 6 * * *'],
  ])('%s is accepted', (text, expanded) => {
    expect(scheduleFault(text)).toBeUndefined()
    expect(expandSchedule(text).join(' ')).toBe(expanded)
  })

  it.each([
    ['', 'no field instead of five', 'minute, hour'],
    ['0 3 * *', '4 fields', 'minute, hour'],
    ['0 0 3 * * *', '6 fields', 'remove the field of the seconds'],
    ['@daily', 'nicknames', '0 0 * * *'],
    ['60 * * * *', '"60" is no minute: it takes 0 to 59', '*/2'],
    ['* 24 * * *', 'is no hour', '1-22'],
    ['* * 0 * *', 'is no day of the month', ''],
    ['* * 32 * *', 'is no day of the month', ''],
    ['* * * 13 *', 'is no month: it takes 1 to 12, or JAN to DEC', 'FEB-NOV'],
    ['* * * JANUARY *', '"JANUARY" is no month', '`JAN`'],
    ['* * * * 0', '0 is no day of the week', '`SUN`'],
    ['* * * * 8', '"8" is no day of the week', ''],
    ['* * * * MONDAY', '"MONDAY"', '`MON`'],
    ['0 MON * * *', '"MON" is no hour', ''],
    ['-5 * * * *', '"" is no minute', ''],
    ['1.5 * * * *', '"1.5" is no minute', ''],
    ['0x1 * * * *', '"0X1" is no minute', ''],
    ['*/0 * * * *', 'from 1 to 59', ''],
    ['*/60 * * * *', 'from 1 to 59', ''],
    ['* */24 * * *', 'from 1 to 23', ''],
    ['* * */31 * *', 'from 1 to 30', ''],
    ['* * * * */7', 'from 1 to 6', ''],
    ['*/5/5 * * * *', 'no value, range or step', ''],
    ['*/ * * * *', 'from 1 to 59', ''],
    ['1-2-3 * * * *', 'no value, range or step', ''],
    ['*-5 * * * *', 'no value, range or step', ''],
    ['1,,2 * * * *', '"" is no minute', ''],
    ['1,* * * * *', 'stands in the list', 'write `*` alone'],
    ['* 22-2 * * *', 'runs backwards', '`22-23,0-2`'],
    ['* * * * FRI-SUN', 'runs backwards', '`FRI-SAT,SUN`'],
    ['* * * * ?', '"?"', 'write `*`'],
    ['* * L-3 * *', 'none of', ''],
    ['* * 31W * *', 'none of', ''],
    ['* * 15W,L * *', 'none of', 'second @Cron'],
    ['* * * * L', 'neither the last', ''],
    ['* * * * MON#6', 'neither the last', ''],
    ['* * * * MON#1,TUE', 'neither the last', 'second @Cron'],
    ['L * * * *', 'no meaning in the field minute', '0 to 59'],
    ['0 0 31 2,4 *', 'there is no day 31 in FEB and APR', 'L'],
    ['0 0 30 feb *', 'there is no day 30 in FEB', 'L'],
    ['constructor', '1 field ', ''],
  ])('%s is refused with its reason and a fix', (text, reason, fix) => {
    const fault = scheduleFault(text)
    expect(fault?.reason).toContain(reason)
    expect(fault?.fix).toContain(fix)
  })

  it('is compared in capital letters with single spaces', () => {
    expect(canonicalSchedule(' 0  6 * jan\tmon-fri ')).toBe('0 6 * JAN MON-FRI')
  })

  it.each([
    ['0 6 * * 1-5', 'SUN-THU'],
    ['0 6 * * 2-6/2,7', 'MON-FRI/2,SAT'],
    ['0 6 * * 6L', 'FRIL'],
    ['0 6 * * 2#1', 'MON#1'],
  ])('%s names the days that its numbers mean', (text, named) => {
    expect(namedWeekdays(text)).toBe(named)
    expect(expandSchedule(`0 6 * * ${named}`)).toEqual(expandSchedule(text))
  })

  it.each(['0 6 1-5 * *', '0 6 * * MON-FRI', '0 6 * * *', '0 6 * * */2'])(
    '%s has no numbered day of the week',
    (text) => {
      expect(namedWeekdays(text)).toBeUndefined()
    },
  )
})

/** The platform's parser in a few lines: the days that a day of the month and a day of the week choose together. */
function isChosen(date: Date, dayOfMonth: string, dayOfWeek: string): boolean {
  const day = date.getUTCDate()
  const week = date.getUTCDay() + 1
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  const isWorkday = week >= 2 && week <= 6
  const [monday, friday] = [2, 6]
  const byMonth = () => {
    if (dayOfMonth === 'L') return day === last
    if (dayOfMonth === 'LW') return (isWorkday && day === last) || (week === friday && last - day < 3)
    if (!dayOfMonth.endsWith('W')) return dayOfMonth.split(',').map(Number).includes(day)
    const near = Number.parseInt(dayOfMonth, 10)
    if (isWorkday && day === near) return true
    if (week === monday) return day - 1 === near || (day === 3 && near === 1)
    return week === friday && (day + 1 === near || (day + 2 === near && near === last))
  }
  const byWeek = () => {
    if (dayOfWeek.endsWith('L')) return week === Number.parseInt(dayOfWeek, 10) && day + 7 > last
    const [weekday, nth] = dayOfWeek.split('#').map(Number)
    if (nth !== undefined) return week === weekday && Math.ceil(day / 7) === nth
    return dayOfWeek.split(',').map(Number).includes(week)
  }
  if (dayOfMonth === '*') return dayOfWeek === '*' || byWeek()
  return byMonth() || (dayOfWeek !== '*' && byWeek())
}

describe('the next run', () => {
  const dayMs = 86_400_000
  const daysOfMonth = ['*', '1,15', '*/2', '31', 'L', 'LW', '1W', '15W', '28W']
  const daysOfWeek = ['*', 'SUN', 'MON-FRI', '7', 'FRIL', 'SUNL', 'MON#1', 'SAT#5', '*/2']
  const both = daysOfMonth.flatMap((day) => daysOfWeek.map((week) => [day, week] as const))

  it.each(both)('falls on the days that the platform chooses for the days %s and %s', (day, week) => {
    const schedule = `30 3 ${day} * ${week}`
    const [, , monthly, , weekly] = expandSchedule(schedule)
    const [start, end] = [Date.UTC(2027, 0, 1), Date.UTC(2029, 0, 1)]
    const expected: string[] = []
    for (let time = start; time < end; time += dayMs) {
      if (isChosen(new Date(time), monthly!, weekly!)) expected.push(new Date(time + 12_600_000).toISOString())
    }
    const found: string[] = []
    for (let at = nextRun(schedule, new Date(start)); at && at.getTime() < end; at = nextRun(schedule, at)) {
      found.push(at.toISOString())
    }
    expect(found).toEqual(expected)
  })

  it('is in UTC, after the given time, and in whole minutes', () => {
    const next = (schedule: string, from: string) => nextRun(schedule, new Date(from))?.toISOString()
    expect(next('*/5 * * * *', '2026-11-22T07:35:00.000Z')).toBe('2026-11-22T07:40:00.000Z')
    expect(next('*/5 * * * *', '2026-11-22T07:34:59.999Z')).toBe('2026-11-22T07:35:00.000Z')
    expect(next('0 0 1 JAN *', '2026-12-31T23:59:59.999Z')).toBe('2027-01-01T00:00:00.000Z')
    expect(next('0 0 29 2 *', '2096-03-01T00:00:00.000Z')).toBe('2104-02-29T00:00:00.000Z')
  })

  it('is due in the minute of its schedule, and in no other one', () => {
    const at = (time: string) => isDue('30 3 * * *', Date.parse(time))
    expect([at('2027-01-01T03:30:00Z'), at('2027-01-01T03:29:00Z'), at('2027-01-01T03:31:00Z')]).toEqual([
      true,
      false,
      false,
    ])
  })
})
