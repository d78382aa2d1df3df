/** The binding `STORAGE` of a served stack: R2's methods, as requests to what keeps the objects. */
import type { StorageBucket, StoredBody, StoredObject } from '../../src/sdk/storage.ts'
import {
  keyFault,
  type ListJson,
  largestMetadata,
  metadataHeader,
  type ObjectJson,
  objectHeader,
} from './storage-protocol.ts'

interface InnerBindings {
  store: Fetcher
}

export default function bucket({ store }: InnerBindings): StorageBucket {
  async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response | null> {
    const response = await store.fetch(`http://storage${path}`, { method, ...init })
    if (response.status === 404) {
      await response.body?.cancel()
      return null
    }
    if (response.ok) return response
    throw new Error(`the storage answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  }
  const pathOf = (key: string) => {
    const fault = keyFault(key)
    if (fault !== undefined) throw new TypeError(fault)
    return `/object?key=${encodeURIComponent(key)}`
  }
  return {
    async get(key) {
      const response = await ask('GET', pathOf(key))
      return response && bodyOf(response)
    },
    async head(key) {
      const response = await ask('HEAD', pathOf(key))
      return response && objectOf(response)
    },
    async put(key, value, { httpMetadata, customMetadata } = {}) {
      const metadata = encodeURIComponent(JSON.stringify({ httpMetadata, customMetadata }))
      if (metadata.length > largestMetadata)
        throw new RangeError(`the metadata of an object has ${largestMetadata} bytes at most`)
      const body = value as BodyInit
      const response = await ask('PUT', pathOf(key), { body, headers: { [metadataHeader]: metadata } })
      return objectOf(response!)
    },
    async delete(keys) {
      const all = [keys].flat()
      for (const key of all) pathOf(key)
      await ask('POST', '/delete', { body: JSON.stringify(all) })
    },
    async list({ prefix = '', limit, cursor } = {}) {
      const query = new URLSearchParams({ prefix, limit: String(limit ?? ''), cursor: cursor ?? '' })
      const { objects, ...rest } = (await (await ask('GET', `/list?${query}`))!.json()) as ListJson
      return { objects: objects.map(revived), ...rest }
    },
  }
}

function objectOf(response: Response): StoredObject {
  return revived(JSON.parse(decodeURIComponent(response.headers.get(objectHeader)!)) as ObjectJson)
}

function revived(object: ObjectJson): StoredObject {
  return { ...object, uploaded: new Date(object.uploaded) }
}

function bodyOf(response: Response): StoredBody {
  return Object.assign(objectOf(response), {
    body: response.body ?? new ReadableStream(),
    arrayBuffer: () => response.arrayBuffer(),
    text: () => response.text(),
    json: <T>() => response.json() as Promise<T>,
  })
}
