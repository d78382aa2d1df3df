/** Lists of the management surface (contract 9): given whole, or in pages that a cursor continues. */
import { HttpError } from '@stack/backend'
import { type Filters, openCursor, type Position, sealCursor } from './cursor.ts'
import { authError } from './errors.ts'

/** The shape of every list of the management surface (contract 9). */
export interface Listed<T> {
  data: T[]
  has_more: boolean
  next_cursor: string | null
}

/** A list that is always given whole. */
export function whole<T>(data: T[]): Listed<T> {
  return { data, has_more: false, next_cursor: null }
}

/** Rows of a page where the caller asks for no number. */
const defaultLimit = 50
/** Largest number of rows of a page, because a page is held in memory. */
const mostRows = 500

/** One page of a list, as its caller asks for it. */
export interface Page {
  /** Largest number of rows. Read one row more, which tells whether the list goes on. */
  limit: number
  /** The position of the last row of the previous page. `undefined` for the first page. */
  after: Position | undefined
  /** @returns the first `limit` rows, with the cursor of the next page where there are more. */
  of<T>(rows: T[], positionOf: (row: T) => Position): Promise<Listed<T>>
  /** The cursor of the page that follows a position, for a list that ends a page itself. */
  cursorAfter(position: Position): Promise<string>
}

/**
 * Reads the query parameters `limit` and `cursor` of a list.
 *
 * @param list a name that no other list has. @param filters what the list is narrowed to: its cursors continue no other selection.
 * @throws HttpError 400 `invalid_limit`, `invalid_cursor`
 *
 * @example
 * ```ts
 * const page = await pageOf('things', { limit, cursor }, { colour })
 * const rows = await things.list(colour, page.limit + 1, page.after?.[0])
 * return page.of(rows, ({ id }) => [id])
 * ```
 */
export async function pageOf(
  list: string,
  { limit, cursor }: { limit: string | undefined; cursor: string | undefined },
  filters: Filters,
): Promise<Page> {
  const most = limitOf(limit)
  const cursorAfter = (position: Position) => sealCursor(list, filters, position)
  return {
    limit: most,
    after: cursor === undefined ? undefined : await openCursor(cursor, list, filters),
    cursorAfter,
    async of(rows, positionOf) {
      const data = rows.slice(0, most)
      const last = rows.length > most ? data.at(-1) : undefined
      return { data, has_more: last !== undefined, next_cursor: last ? await cursorAfter(positionOf(last)) : null }
    },
  }
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return defaultLimit
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > mostRows) throw authError('invalid_limit')
  return limit
}

/** @throws HttpError 400 `invalid_request` where the value is given and is none of those that the filter takes. */
export function requireOneOf<T extends string>(
  name: string,
  value: string | undefined,
  known: readonly T[],
): T | undefined {
  if (value === undefined || known.some((one) => one === value)) return value as T | undefined
  throw filterFault(name, `it is one of ${known.join(', ')}`)
}

/** @returns the error to throw for a query parameter whose value cannot be right. */
export function filterFault(path: string, reason: string): HttpError {
  return new HttpError(400, 'invalid_request', `the request is not valid: ${path}: ${reason}`, {
    fields: [{ path, reason }],
  })
}

/** Collects the values of a statement whose text is computed. @returns the placeholder of each value. */
export function parameters(): { values: unknown[]; bind: (value: unknown) => string } {
  const values: unknown[] = []
  return { values, bind: (value) => `$${values.push(value)}` }
}
