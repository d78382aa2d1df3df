/** Calls of the auth worker that a start makes: the first answer, and the declared roles. */
import type { DeclaredRole } from '../src/wire/project.ts'

/** Number of attempts to reach the auth worker, 50 ms apart: workerd is ready by then, so few are needed. */
const attempts = 50

/** Longest wait for one answer, in milliseconds: the first request of a worker also opens its database connection. */
const answerMs = 5_000

/** Waits for the first answer of the key set, which also makes the signing key. */
export async function whenAnswering(baseUrl: string): Promise<void> {
  let last = ''
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const response = await fetch(`${baseUrl}/auth/.well-known/jwks.json`, { signal: AbortSignal.timeout(answerMs) })
      const body = await response.text()
      if (response.ok) return
      last = body
    } catch (error) {
      last = String(error)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the auth worker does not answer: ${last}`)
}

/** Declares every role in the auth module, which keeps those that it has. */
export async function declareRoles(
  baseUrl: string,
  serviceRoleKey: string,
  roles: readonly DeclaredRole[],
): Promise<void> {
  for (const role of roles) {
    const response = await fetch(`${baseUrl}/v1/management/auth/roles`, {
      method: 'POST',
      headers: { apikey: serviceRoleKey, 'content-type': 'application/json' },
      body: JSON.stringify(role),
    })
    if (!response.ok) throw new Error(`the role ${role.name} could not be declared: ${await response.text()}`)
    await response.arrayBuffer()
  }
}
