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
