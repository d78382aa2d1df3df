/** Each list of the management surface that grows with the stack: a page of few rows beside the same page of many. */
import { sealWith } from '../../src/wire/sealing.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import { type List, listsAt, management } from './selections.ts'
import type { ManagedStack } from './stack.ts'

/** Number of rounds that are not counted: Postgres reads pages from the disk. */
const warm = 1
/** Number of counted rounds: enough for a median beside other work on the machine. */
const rounds = 9
/** Number of rounds of a list that was slower than `target`: beside much other work, 9 rounds are sometimes too few. */
const moreRounds = 31
/** Requests of a round, of which the fastest counts: other work on the machine makes a request slower, and never faster. */
const requests = 3

/** The largest ratio of a list that does not grow with its table. The rest is the depth of an index, and noise. */
export const target = 1.5

/** @returns the lists that are slower with more rows than `target` allows. */
export async function benchLists(small: ManagedStack, large: ManagedStack): Promise<string[]> {
  const slow: string[] = []
  const lists = { small: listsAt(await middleOf(small)), large: listsAt(await middleOf(large)) }
  for (const [index, list] of lists.small.entries()) {
    for (const [place, selection] of list.selections.entries()) {
      const urls = {
        small: await pagesOf(small, list, place),
        large: await pagesOf(large, lists.large[index]!, place),
      }
      const parameters = Object.entries(selection.query).map(describe)
      const name = [list.path.slice(management.length), ...parameters].join(' ')
      for (const [page, first] of urls.small.entries()) {
        const label = page === 0 ? name : `${name}, deep inside`
        const targets = { small: first, large: urls.large[page]! }
        const ratio = await measure(label, { small, large }, targets, rounds)
        if (ratio < target || selection.isBounded) continue
        if ((await measure('  again', { small, large }, targets, moreRounds)) >= target) slow.push(label)
      }
    }
  }
  return slow
}

/** The moment in the middle of the rows differs between both stacks. */
const describe = ([name, value]: [string, string]) => (name === 'from' || name === 'to' ? name : `${name}=${value}`)

async function middleOf({ owner }: ManagedStack): Promise<string> {
  const { rows } = await owner.query(`select min(occurred_at) + (max(occurred_at) - min(occurred_at)) / 2 as middle
    from stack.audit where id like 'aud_%' and actor_type = 'user'`)
  return (rows[0] as { middle: Date }).middle.toISOString()
}

/** @returns the first page, and one behind half of the selected rows. */
async function pagesOf(
  { owner, keys }: ManagedStack,
  { path, paged, selections }: List,
  place: number,
): Promise<string[]> {
  const { query, where, sealed = query } = selections[place]!
  const first = `${path}?${new URLSearchParams(query)}`.replace(/\?$/, '')
  if (!paged || where === undefined) return [first]
  const { name, table, position, order } = paged
  const { rows } = await owner.query({
    text: `select ${position} from ${table} where ${where} order by ${order} limit 1
      offset (select count(*) / 2 from ${table} where ${where})`,
    rowMode: 'array',
  })
  const filters = Object.entries(sealed).sort(([one], [other]) => (one < other ? -1 : 1))
  // `from` and `to` are sealed as they are sent, because toISOString has made them
  const text = await sealWith(keys.sealing_key, JSON.stringify(rows[0]), `cursor ${name} ${JSON.stringify(filters)}`)
  const cursor = Buffer.from(text, 'base64').toString('base64url')
  return [first, `${path}?${new URLSearchParams({ ...query, cursor })}`]
}

/** Measures one page of both stacks and prints it. @returns the ratio. @throws Error where the pages differ in their number of rows. */
async function measure(
  label: string,
  stacks: Record<'small' | 'large', ManagedStack>,
  targets: Record<'small' | 'large', string>,
  times: number,
): Promise<number> {
  const counts = { small: 0, large: 0 }
  const turn = (size: 'small' | 'large') => async () => {
    const waits: number[] = []
    for (let request = 0; request < requests; request++) {
      const began = performance.now()
      const body = await stacks[size].send('GET', targets[size])
      waits.push(performance.now() - began)
      counts[size] = (JSON.parse(body) as { data: unknown[] }).data.length
    }
    return Math.min(...waits)
  }
  const variants = { small: turn('small'), large: turn('large') }
  await interleave(warm, variants)
  const { small, large } = (await interleave(times, variants)) as Record<'small' | 'large', number[]>
  if (counts.small !== counts.large || counts.small === 0) {
    throw new Error(`${label}: pages of ${counts.small} and ${counts.large} rows cannot be compared`)
  }
  const ratio = median(ratios(large!, small!))
  printRow(label, `${ms(median(small!))} → ${ms(median(large!))}`, ratio)
  return ratio
}
