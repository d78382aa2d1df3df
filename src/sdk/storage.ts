/** What a bucket can do: the part of R2's own interface that does not depend on its types being installed. */

export interface StoredObject {
  key: string
  /** Bytes. */
  size: number
  etag: string
  uploaded: Date
  httpMetadata?: { contentType?: string; cacheControl?: string }
  customMetadata?: Record<string, string>
}

export interface StoredBody extends StoredObject {
  body: ReadableStream
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
  json<T>(): Promise<T>
}

export interface StorageBucket {
  /** @returns `null` where there is none. */
  get(key: string): Promise<StoredBody | null>
  head(key: string): Promise<StoredObject | null>
  put(
    key: string,
    value: ReadableStream | ArrayBuffer | ArrayBufferView | string,
    options?: Pick<StoredObject, 'httpMetadata' | 'customMetadata'>,
  ): Promise<StoredObject>
  /** One that is not there is no error. */
  delete(keys: string | string[]): Promise<void>
  /** At most 1,000 at a time; `cursor` of a truncated answer continues it. */
  list(options?: { prefix?: string; limit?: number; cursor?: string }): Promise<{
    objects: StoredObject[]
    truncated: boolean
    cursor?: string
  }>
}
