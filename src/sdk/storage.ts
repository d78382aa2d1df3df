/** The types of `Storage`: the part of R2's interface that needs no installed types. */

/** The properties of a stored object, without its content. */
export interface StoredObject {
  /** The name of the object in the bucket. */
  key: string
  /** Length of the content in bytes. */
  size: number
  /** Changes with the content (RFC 9110, section 8.8.3), here without quotes. */
  etag: string
  /** The time at which the object was stored. */
  uploaded: Date
  /** Headers that `put` was given for the content. */
  httpMetadata?: { contentType?: string; cacheControl?: string }
  /** Further names and values that `put` was given. */
  customMetadata?: Record<string, string>
}

/** A stored object with its content. The content can be read once, in one of these ways. */
export interface StoredBody extends StoredObject {
  /** The content as a stream. */
  body: ReadableStream
  /** Reads the content as bytes. */
  arrayBuffer(): Promise<ArrayBuffer>
  /** Reads the content as UTF-8 text. */
  text(): Promise<string>
  /** Parses the content. @throws SyntaxError where it is not JSON. */
  json<T>(): Promise<T>
}

/** The methods of `Storage`. Each rejects with `OutsideRequest` where no request is being served (contract 2.6). */
export interface StorageBucket {
  /** Reads an object. @returns the object with its content, or `null` where there is none. */
  get(key: string): Promise<StoredBody | null>
  /** Reads the properties of an object. @returns `null` where there is no such object. */
  head(key: string): Promise<StoredObject | null>
  /**
   * Stores an object, and replaces one of the same key. It takes effect at once: a request that fails afterwards does not
   * undo it.
   *
   * @example
   * ```ts
   * async function keep(id: string, pdf: ArrayBuffer) {
   *   await Storage.put(`invoices/${id}.pdf`, pdf, { httpMetadata: { contentType: 'application/pdf' } })
   * }
   * ```
   */
  put(
    key: string,
    value: ReadableStream | ArrayBuffer | ArrayBufferView | string,
    options?: Pick<StoredObject, 'httpMetadata' | 'customMetadata'>,
  ): Promise<StoredObject>
  /** Deletes one object or several. An object that is not there is no error. */
  delete(keys: string | string[]): Promise<void>
  /**
   * Lists objects by key. `limit` is at most 1,000, which is also the default. Where the answer is `truncated`, its `cursor`
   * continues it.
   *
   * @example
   * ```ts
   * async function keysBelow(prefix: string) {
   *   const { objects } = await Storage.list({ prefix })
   *   return objects.map(({ key }) => key)
   * }
   * ```
   */
  list(options?: { prefix?: string; limit?: number; cursor?: string }): Promise<{
    objects: StoredObject[]
    truncated: boolean
    cursor?: string
  }>
}
