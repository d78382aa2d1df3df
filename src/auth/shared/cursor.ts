/**
 * Cursors of lists. A cursor holds the position of the last row of a page, sealed (AES-256-GCM) for its list and its filters. With other
 * filters, or with one changed character, it does not open. Its alphabet is base64url without padding, so it survives in a URL as it is.
 */
import { authError } from './errors.ts'
import { open, seal } from './seal.ts'

/** The filters of a list, in the form in which they are applied. A filter that was not given is `undefined`. */
export type Filters = Readonly<Record<string, string | undefined>>

/** Where a row stands in the order of its list: the values of the columns that the list is ordered by. */
export type Position = readonly string[]

/** Characters of the longest cursor: a position is an address of 254 characters at most, beside an id. */
const longestCursor = 1_000

/** @param list a name that no other list has, like `sessions`. */
export async function sealCursor(list: string, filters: Filters, position: Position): Promise<string> {
  const sealed = await seal(JSON.stringify(position), placeOf(list, filters))
  return sealed.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** @throws HttpError 400 `invalid_cursor` for a cursor that this list did not give with these filters. */
export async function openCursor(cursor: string, list: string, filters: Filters): Promise<Position> {
  if (!/^[A-Za-z0-9_-]+$/.test(cursor) || cursor.length > longestCursor) throw authError('invalid_cursor')
  const sealed = cursor.replaceAll('-', '+').replaceAll('_', '/')
  try {
    // the last character of base64 has bits that no byte holds: only one form of them is taken
    if (btoa(atob(sealed)).replace(/=+$/, '') !== sealed) throw authError('invalid_cursor')
    return JSON.parse(await open(sealed, placeOf(list, filters))) as Position
  } catch (error) {
    // both the decoder and the cipher refuse with a DOMException
    if (error instanceof DOMException) throw authError('invalid_cursor')
    throw error
  }
}

function placeOf(list: string, filters: Filters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  return `cursor ${list} ${JSON.stringify(given.sort(([one], [other]) => (one < other ? -1 : 1)))}`
}
