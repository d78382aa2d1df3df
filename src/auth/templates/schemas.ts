/** Schemas of the bodies that routes of templates take, and the check of a whole template. */
import type { HttpError } from '@stack/backend'
import * as v from 'valibot'
import { InvalidDeclaration } from '../../wire/project.ts'
import {
  checkTemplate,
  type DeclaredTemplate,
  faultText,
  readTemplate,
  type TemplateParts,
} from '../../wire/templates.ts'
import type { KnownTemplate, Texts } from '../mail/catalogue.ts'
import { values } from '../mail/values.ts'
import { authError } from '../shared/errors.ts'
import { strictObject } from '../shared/strict-object.ts'

/** A text message has no subject, and its body is its text. */
export const texts = strictObject({
  subject: v.nullish(v.string(), null),
  body: v.string(),
  body_text: v.nullish(v.string(), null),
})

export const previewed = strictObject({
  variables: v.optional(values, {}),
  subject: v.nullish(v.string()),
  body: v.optional(v.string()),
  body_text: v.nullish(v.string()),
})

export const tested = strictObject({ to: v.pipe(v.string(), v.maxLength(320)), locale: v.optional(v.string()) })

/** @throws HttpError 422 `invalid_template` with line and column of each fault. */
export function requireFaultless(parts: TemplateParts, { variables }: Pick<KnownTemplate, 'variables'>): void {
  const faults = checkTemplate(parts, variables)
  const [first] = faults
  if (!first) return
  const fields = faults.map(({ field, line, column, reason }) => ({ path: field, reason, line, column }))
  throw authError('invalid_template', `${first.field}, ${faultText(first)}`, { fields })
}

/** @returns the texts as they would be with those of the body. A new body without a text of its own has its text made of it. */
export function textsWith(given: v.InferOutput<typeof previewed>, { subject, body, body_text }: Texts): Texts {
  const text = given.body === undefined ? body_text : null
  return {
    subject: given.subject === undefined ? subject : given.subject,
    body: given.body ?? body,
    body_text: given.body_text === undefined ? text : given.body_text,
  }
}

/** @throws HttpError 422 `invalid_template` with the path of the wrong value. */
export function requireDeclaration(key: string, body: unknown): DeclaredTemplate {
  try {
    const template = readTemplate(body, key)
    if (template.key !== key) throw new InvalidDeclaration(['key'], `"key" must be "${key}", as in the address`)
    return template
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    const fields: HttpError['details']['fields'] = [{ path: error.path.join('.') || 'body', reason: error.message }]
    throw authError('invalid_template', error.message, { fields })
  }
}
