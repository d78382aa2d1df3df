/** Calls of the auth worker that a start makes: the first answer, and what the project declares. */
import { addressOf } from '../src/wire/address.ts'
import { keys, roles as roleOperations, templates as templateOperations } from '../src/wire/operations.ts'
import type { DeclaredRole } from '../src/wire/project.ts'
import type { DeclaredTemplate } from '../src/wire/templates.ts'

/** What a project declares to the auth module, beside its code. */
export interface Declarations {
  roles: readonly DeclaredRole[]
  templates: readonly DeclaredTemplate[]
}

/** Number of attempts to reach the auth worker, 50 ms apart: workerd is ready by then, so few are needed. */
const attempts = 50

/** Longest wait for one answer, in milliseconds: the first request of a worker also opens its database connection. */
const answerMs = 5_000

/** Longest time of one declaration, in milliseconds. The stack's own limit is shorter: 10 s for a statement. */
const declareMs = 30_000

/** Waits for the first answer of the key set, which also makes the signing key. */
export async function whenAnswering(baseUrl: string): Promise<void> {
  let last = ''
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const response = await fetch(`${baseUrl}${keys.keySet.path}`, { signal: AbortSignal.timeout(answerMs) })
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

/** The auth module refused a declaration. */
export class NotDeclared extends Error {
  override name = 'NotDeclared'
  readonly status: number

  constructor(what: string, status: number, text: string) {
    super(`${what} could not be declared: ${text}`)
    this.status = status
  }
}

/**
 * Declares roles and templates in the auth module, which keeps those that it has, and texts that were changed there.
 * @param credential the headers of a caller who administers the stack. @throws NotDeclared
 */
export async function declareAll(
  baseUrl: string,
  credential: Record<string, string>,
  { roles, templates }: Declarations,
): Promise<void> {
  const declare = async (what: string, method: string, path: string, body: object) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...credential, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error', // the credential is for the stack alone
      signal: AbortSignal.timeout(declareMs),
    })
    if (!response.ok) throw new NotDeclared(what, response.status, await response.text())
    await response.arrayBuffer()
  }
  const { method, path } = roleOperations.declare
  for (const role of roles) await declare(`the role ${role.name}`, method, path, role)
  const { declare: operation } = templateOperations
  for (const template of templates) {
    const address = addressOf(operation, { key: template.key })
    await declare(`the template ${template.key}`, operation.method, address, template)
  }
}
