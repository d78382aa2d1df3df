/** The trace that a request belongs to (W3C Trace Context, https://www.w3.org/TR/trace-context/). */

export interface Trace {
  /** Fields of every line of the request's log. */
  fields: { trace_id: string; span_id: string }
  /** Headers for the requests that the runtime sends on behalf of this one. Its own span is their parent. */
  headers: Record<string, string>
}

/** Version 00 ends after the flags. A later version may append fields, and begins with the same four. */
const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/

/** Longest `tracestate` in characters that is passed on: the specification requires at least 512. A longer one is dropped. */
const longestState = 512

/** @returns `undefined` where the header is absent or malformed. */
export function traceOf(headers: Headers): Trace | undefined {
  const header = headers.get('traceparent')
  if (header === null) return undefined
  const [, version, traceId, flags, more] = traceparent.exec(header) ?? []
  if (traceId === undefined || (version === '00' && more !== undefined)) return undefined
  const spanId = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  const state = headers.get('tracestate')
  return {
    fields: { trace_id: traceId, span_id: spanId },
    headers: {
      traceparent: `00-${traceId}-${spanId}-${flags}`,
      ...(state !== null && state.length <= longestState ? { tracestate: state } : {}),
    },
  }
}
