/** An answer that is JSON. The build describes its body by what `json()` promises (contract 8.7). */
export type JsonResponse<T> = Response & { json(): Promise<T> }

/** A handler that sets the status or a header answers with it. Any other handler returns the value itself. */
export function jsonResponse<T>(body: T, init: ResponseInit): JsonResponse<T> {
  return Response.json(body, init) as JsonResponse<T>
}
